#!/usr/bin/env bash
# Runs the tests that azure-cosmos carries in its source distribution, in the version of ../python, against the server.
#
#   ./python.sh [pytest arguments, such as test_crud.py or -k upsert]
#
# Of its markers these three need nothing but one account: cosmosEmulator, cosmosQuery and cosmosSplit. OWN_MARKERS
# chooses others. The tests say https://localhost:8081/ themselves, and count on 6,000 RU/s for a physical partition.
set -u
cd "$(dirname "$0")" || exit 1
. ./room.sh

MARKERS=${OWN_MARKERS:-cosmosEmulator or cosmosQuery or cosmosSplit}
TEST_SECONDS_MAX=300

if [ -z "${OWN_ROOM:-}" ]; then
  [ -d .venv ] || python3 -m venv .venv || exit 1
  .venv/bin/pip install -q -r requirements.txt || exit 1
  version=$(sed -n 's/^azure-cosmos==//p' ../python/requirements.txt)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  .venv/bin/pip download -q --no-binary azure-cosmos --no-deps -d "$work" "azure-cosmos==$version" || exit 1
  tar -xzf "$work"/azure_cosmos-*.tar.gz -C "$work" || exit 1
  export OWN_TESTS_FOLDER=$work/azure_cosmos-$version/tests
  (enter_room "$@")
  exit $?
fi

furnish
# The service leaves merging to the client, and these tests look at that. They also count on the account's regions being
# at 127.0.0.1, as the emulator has it, to tell them from localhost, where they begin.
serve sql --port 8081 --advertised-url https://127.0.0.1:8081/ --table-port off --throttle off \
  --cross-partition-queries plan
cd "$OWN_TESTS_FOLDER" || exit 1
# Wide enough for a reason on the line of each failure.
export PYTHONPATH=$OWN/python COLUMNS=400
pytest() {
  "$OWN/.venv/bin/pytest" -m "$MARKERS" -o asyncio_mode=auto --timeout "$TEST_SECONDS_MAX" -p no:cacheprovider \
    -W ignore -q --tb=short --show-capture=no -rfEs "$@"
}

if [ $# -gt 0 ]; then
  pytest "$@" | tee "$OWN_ROOM/tests.txt"
else
  # A run for each file: all tests of a run share one database, whose throughput is shared by 25 containers at most, and
  # a test that fails leaves its containers behind.
  for file in $(grep -lE "pytest\.mark\.($(sed 's/ or /|/g' <<<"$MARKERS"))\b" test_*.py routing/test_*.py); do
    echo "== $file"
    pytest "$file"
  done 2>&1 | tee "$OWN_ROOM/tests.txt"
fi
complaints
count() { sed -nE "s/.*\b([0-9]+) $1.*/\1/p" "$OWN_ROOM/tests.txt" | awk '{ sum += $1 } END { print sum + 0 }'; }
echo "azure-cosmos: passed $(count passed), failed $(count failed), errors $(count 'errors?'), skipped $(count skipped)"
! grep -qE '^(FAILED|ERROR) ' "$OWN_ROOM/tests.txt"
