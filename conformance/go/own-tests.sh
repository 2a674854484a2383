#!/usr/bin/env bash
# Runs the tests that azcosmos and aztables carry in their modules, in the versions of go.mod, against the server.
#
#   ./own-tests.sh [azcosmos|aztables] [regular expression of names]
#
# azcosmos has tests for the emulator, which it starts with strong consistency, without rate limiting, with tokens of
# Entra ID, leaving it to the client to merge queries, and with the SQL compute endpoint on port 8903. aztables has live tests for an account of each flavour.
set -u
cd "$(dirname "$0")" || exit 1
. ../own/room.sh

MODULES=github.com/Azure/azure-sdk-for-go/sdk/data
suite=${1:-both}
[ $# -gt 0 ] && shift

if [ "$suite" = both ]; then
  "$0" azcosmos "$@"
  first=$?
  "$0" aztables "$@"
  exit $((first | $?))
fi

if [ -z "${OWN_ROOM:-}" ]; then
  # Compiled outside, from a copy, since the module cache is read-only and the namespace has no network.
  work=$(mktemp -d)
  trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
  go mod download || exit 1
  cp -r "$(go list -m -f '{{.Dir}}' $MODULES/"$suite")" "$work/module"
  chmod -R u+w "$work/module"
  (cd "$work/module" && go test -c -o "$work/tests" .) || exit 1
  export OWN_TESTS=$work/tests OWN_TESTS_FOLDER=$work/module
  (enter_room "$suite" "$@")
  exit $?
fi

case $suite in
azcosmos)
  furnish
  flags=(--consistency Strong --throttle off --table-port off --cross-partition-queries plan)
  serve sql --port 8081 --advertised-url https://127.0.0.1:8081/ "${flags[@]}"
  serve compute --port 8903 "${flags[@]}"
  export EMULATOR=true
  # The other tests never leave the process, and one of them takes minutes.
  wanted="^($(sed -nE 's/^func (Test\w+)\(.*/\1/p' "$OWN_TESTS_FOLDER"/emulator_*_test.go | paste -sd '|'))\$"
  ;;
aztables)
  furnish "127.0.0.1 armilla.table.cosmos.azure.com" "127.0.0.2 armilla.table.core.windows.net" \
    "127.0.0.2 armilla-secondary.table.core.windows.net"
  serve cosmos --port 0 --table-port 443 --throttle off --tls-name armilla.table.cosmos.azure.com
  serve storage --bind 127.0.0.2 --port 0 --table-port off --storage-table-port 443 --throttle off \
    --tls-name armilla.table.core.windows.net,armilla-secondary.table.core.windows.net
  serve azurite --port 0 --table-port off --storage-table-port 10002 --throttle off
  wanted=.
  export AZURE_RECORD_MODE=live
  export TABLES_COSMOS_ACCOUNT_NAME=armilla TABLES_PRIMARY_COSMOS_ACCOUNT_KEY=$KEY
  export TABLES_STORAGE_ACCOUNT_NAME=armilla TABLES_PRIMARY_STORAGE_ACCOUNT_KEY=$KEY
  ;;
esac

# Clients of their own transport check the certificate.
cat "$OWN_ROOM"/*/tls/cert.pem >"$OWN_ROOM/certificates.pem"
export SSL_CERT_FILE=$OWN_ROOM/certificates.pem
# Tests of tokens ask the Azure CLI for one.
export PATH=$OWN:$PATH AZURE_TOKEN_CREDENTIALS=AzureCLICredential

cd "$OWN_TESTS_FOLDER" || exit 1
# Each in a process of its own: a panic ends the process, and no test may take others with it.
for test in $("$OWN_TESTS" -test.list "${1:-$wanted}" | grep '^Test'); do
  "$OWN_TESTS" -test.v -test.run "^$test\$"
done >"$OWN_ROOM/tests.txt" 2>&1
cat "$OWN_ROOM/tests.txt"
complaints
for outcome in PASS FAIL SKIP; do
  names=$(sed -nE "s/^ *--- $outcome: (\S+).*/\1/p" "$OWN_ROOM/tests.txt")
  echo "$suite $outcome: $(grep -c . <<<"$names")"
  [ $outcome = PASS ] || sed '/./s/^/  /' <<<"$names"
done
! grep -q -- '--- FAIL' "$OWN_ROOM/tests.txt"
