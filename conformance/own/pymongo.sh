#!/usr/bin/env bash
# Runs the tests that PyMongo carries in its source distribution, in the version of ../python, against the server.
#
#   ./pymongo.sh                             every file, a run for each
#   ./pymongo.sh test/test_collection.py     pytest arguments: files, -k names
#
# OWN_MARKERS chooses other tests than `default`, such as `default_async`; OWN_FLAGS adds flags of the server;
# DB_IP and DB_PORT name a server that runs already. The results lie in OWN_RESULTS, or in results/pymongo here:
# a file of JUnit's form for each run, and summary.txt.
set -u
cd "$(dirname "$0")" || exit 1

OWN=$PWD
MARKERS=${OWN_MARKERS:-default}
RESULTS=${OWN_RESULTS:-$OWN/results/pymongo}
ARMILLA_BIN=${ARMILLA_BIN:-$OWN/../../target/debug/armilla}
KEY='C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=='
READY_SECONDS_MAX=30
TEST_SECONDS_MAX=60
FILE_SECONDS_MAX=900
# These need another product, other servers, or the network.
LEFT_OUT='test_(auth_oidc|azure_helpers|data_lake|dns|encryption|fork|gcp_helpers|load_balancer|ocsp.*|on_demand_csfle|pyopenssl.*|search_index.*|srv_polling|ssl)\.py'

[ -d .venv ] || python3 -m venv .venv || exit 1
.venv/bin/pip install -q -r requirements.txt || exit 1
version=$(sed -n 's/^pymongo==//p' ../python/requirements.txt)
source=$OWN/sources/pymongo-$version
if [ ! -d "$source" ]; then
  work=$(mktemp -d)
  .venv/bin/pip download -q --no-binary pymongo --no-deps -d "$work" "pymongo==$version" || exit 1
  mkdir -p sources && tar -xzf "$work/pymongo-$version.tar.gz" -C sources || exit 1
  rm -rf "$work"
fi

rm -rf "$RESULTS" && mkdir -p "$RESULTS" || exit 1
if [ -z "${DB_PORT:-}" ]; then
  folder=$(mktemp -d)
  # shellcheck disable=SC2086
  NO_COLOR=1 "$ARMILLA_BIN" --data-dir "$folder/data" --port 0 --table-port off --mongo-port 0 --throttle off \
    --mongo-test-commands on ${OWN_FLAGS:-} >"$folder/out" 2>"$RESULTS/server.log" &
  server=$!
  trap 'kill $server 2>/dev/null; wait $server; rm -rf "$folder"' EXIT
  until grep -q '^armilla ready:' "$folder/out"; do
    if [ $SECONDS -gt $READY_SECONDS_MAX ] || ! kill -0 $server 2>/dev/null; then
      cat "$RESULTS/server.log" >&2
      exit 1
    fi
    sleep 0.1
  done
  DB_PORT=$(sed -nE 's/.*\bmongo=\S*:([0-9]+).*/\1/p' "$folder/out")
  # The tests look for their user among those that were made, which the account is not.
  .venv/bin/python - "$DB_PORT" "$KEY" <<'PYTHON' || exit 1
import sys
from pymongo import MongoClient
with MongoClient("127.0.0.1", int(sys.argv[1]), username="localhost", password=sys.argv[2]) as client:
    client.admin.command("createUser", "tester", pwd="secret", roles=["root"])
PYTHON
fi
export DB_IP=${DB_IP:-127.0.0.1} DB_PORT DB_USER=${DB_USER:-tester} DB_PASSWORD=${DB_PASSWORD:-secret}

cd "$source" || exit 1
# Run FILE-OF-RESULTS ARGUMENTS...
run() {
  local results=$1
  shift
  timeout "$FILE_SECONDS_MAX" "$OWN/.venv/bin/python" -m pytest -o addopts="" -o log_cli_level=CRITICAL -m "$MARKERS" \
    --timeout "$TEST_SECONDS_MAX" -p no:cacheprovider --junitxml "$results" -q --tb=short --show-capture=no "$@" \
    >"${results%.xml}.txt" 2>&1
  # 5: nothing of these markers.
  local code=$?
  [ $code -le 1 ] || [ $code = 5 ] || echo "$*: ended with $code"
}

if [ $# -gt 0 ]; then
  run "$RESULTS/chosen.xml" "$@"
else
  folder_of_tests=test
  [ "$MARKERS" = default_async ] && folder_of_tests=test/asynchronous
  for file in "$folder_of_tests"/test_*.py; do
    [[ $(basename "$file") =~ ^$LEFT_OUT$ ]] && continue
    run "$RESULTS/$(basename "$file" .py).xml" "$file"
    "$OWN/.venv/bin/python" "$OWN/summary.py" "$RESULTS/$(basename "$file" .py).xml" | tail -1 | sed "s|^|$file: |"
  done
fi
"$OWN/.venv/bin/python" "$OWN/summary.py" "$RESULTS"/*.xml >"$RESULTS/summary.txt"
cat "$RESULTS/summary.txt"
[ ! -f "$RESULTS/server.log" ] || grep -hE '^(\S+\s+)?(WARN|ERROR)\b|panicked at' "$RESULTS/server.log" | sort | uniq -c |
  sort -rn | head -20 | sed 's/^/server log: /'
grep -q '^total: .* failed 0, errors 0' "$RESULTS/summary.txt"
