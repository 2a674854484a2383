#!/bin/sh
# Builds the peers of `cargo xtask bench mongo` into a folder: FerretDB as released and with its index of _id mended,
# by Go, and mongo-java-server, by Maven. What cannot be built is left out, there and in the measurements.
#
#   bench/peers/mongo/get.sh target/mongo-peers
set -eu
own=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)

ferretdb() {
    module=github.com/FerretDB/FerretDB
    rm -rf "$to/source"
    cp -r "$(go mod download -json $module@v1.24.0 | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')" "$to/source"
    chmod -R u+w "$to/source"
    cd "$to/source"
    # It does not start without its version, which its module does not carry.
    printf 'v1.24.0\n' > build/version/version.txt
    go build -buildvcs=false -o "$to/ferretdb" ./cmd/ferretdb
    # It makes its index of ->"_id" and asks for ->'$._id', which SQLite does not find in it.
    sed -i "s/IDColumn = DefaultColumn + .*/IDColumn = DefaultColumn + \`->\"_id\"\`/" \
        internal/backends/sqlite/metadata/metadata.go
    go build -buildvcs=false -o "$to/ferretdb-mended" ./cmd/ferretdb
}

java_server() {
    mvn -q -f "$own/pom.xml" dependency:copy-dependencies -DoutputDirectory="$to/java"
    cp "$own/MongoJavaServer.java" "$to/"
}

(ferretdb) || echo "without FerretDB" >&2
(java_server) || echo "without mongo-java-server" >&2
