#!/bin/sh
# Puts the peer of `cargo xtask bench gremlin` into a folder: TinkerPop's own server with a graph in memory, by Maven.
# What cannot be had is left out, there and in the measurements.
#
#   bench/peers/gremlin/get.sh target/gremlin-peers
set -eu
own=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
to=$(cd "$1" && pwd)

server() {
    mvn -q -f "$own/pom.xml" dependency:copy-dependencies -DoutputDirectory="$to/java"
    cp "$own/server.yaml" "$own/graph.properties" "$own/load.groovy" "$to/"
}

(server) || echo "without gremlin-server" >&2
