#!/usr/bin/env bash
# Runs the tests that PyMongo carries in its source distribution, in the version of ../python, against the server.
#
#   ./pymongo.sh                             every file, each with a server of its own
#   ./pymongo.sh test/test_collection.py     files, or with pytest's names: test/test_collection.py::TestCollection
#
# OWN_HALF=async runs the asynchronous half, in test/asynchronous; OWN_JOBS is how many files run at once; OWN_FLAGS adds
# flags of the server; DB_PORT (and DB_IP, DB_USER, DB_PASSWORD) name a server that runs already.
# The results lie in OWN_RESULTS, or in results/pymongo here: a line for each test in a file for each run,
# what the servers said, and summary.txt. What is expected to fail, or to apply to another kind of server, is in pymongo-expected.txt; the exit
# code says whether anything else failed, or passed although it was expected to fail.
set -u
cd "$(dirname "$0")" || exit 1

export OWN=$PWD
export RESULTS=${OWN_RESULTS:-$OWN/results/pymongo}
export ARMILLA_BIN=${ARMILLA_BIN:-$OWN/../../target/debug/armilla}
export KEY='C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=='
export READY_SECONDS_MAX=60
export OWN_TEST_SECONDS_MAX=${OWN_TEST_SECONDS_MAX:-180}
export HANGS_MAX=20
export FILE_SECONDS_MAX=${OWN_FILE_SECONDS_MAX:-1200}
export MARKERS='default or default_async or auth'
HALF=${OWN_HALF:-sync}
# These need another product, other servers, or the network.
LEFT_OUT='test_(auth_oidc|azure_helpers|data_lake|dns|encryption|fork|gcp_helpers|kms_connect.*|load_balancer|ocsp.*|on_demand_csfle|pyopenssl.*|search_index.*|sfp|srv_polling|ssl)\.py'

[ -d .venv ] || python3 -m venv .venv || exit 1
.venv/bin/pip install -q -r requirements.txt || exit 1
version=$(sed -n 's/^pymongo==//p' ../python/requirements.txt)
export SOURCE=$OWN/sources/pymongo-$version
if [ ! -d "$SOURCE" ]; then
  work=$(mktemp -d)
  .venv/bin/pip download -q --no-binary pymongo --no-deps -d "$work" "pymongo==$version" || exit 1
  mkdir -p sources && tar -xzf "$work/pymongo-$version.tar.gz" -C sources || exit 1
  rm -rf "$work"
fi
rm -rf "$RESULTS" && mkdir -p "$RESULTS" || exit 1

# Starts a server, runs a file against it, ends it: what a test leaves behind reaches no other file.
run() {
  local name results code server='' folder=''
  name=$(basename "${1%%::*}" .py)
  results=$RESULTS/$name.jsonl
  if [ -z "${DB_PORT:-}" ]; then
    folder=$(mktemp -d)
    # shellcheck disable=SC2086
    NO_COLOR=1 "$ARMILLA_BIN" --data-dir "$folder/data" --port 0 --table-port off --mongo-port 0 --throttle off \
      --mongo-test-commands on ${OWN_FLAGS:-} >"$folder/out" 2>"$RESULTS/$name.log" &
    server=$!
    local begun=$SECONDS
    until grep -q '^armilla ready:' "$folder/out"; do
      if [ $((SECONDS - begun)) -gt "$READY_SECONDS_MAX" ] || ! kill -0 $server 2>/dev/null; then
        echo "$1: the server does not start" | tee -a "$RESULTS/$name.log"
        kill $server 2>/dev/null
        return
      fi
      sleep 0.1
    done
    DB_PORT=$(sed -nE 's/.*\bmongo=\S*:([0-9]+).*/\1/p' "$folder/out")
    # The tests look for their user among those that were made, which the account is not.
    "$OWN/.venv/bin/python" - "$DB_PORT" "$KEY" <<'PYTHON'
import sys
from pymongo import MongoClient
with MongoClient("127.0.0.1", int(sys.argv[1]), username="localhost", password=sys.argv[2]) as client:
    client.admin.command("createUser", "tester", pwd="secret", roles=["root"])
PYTHON
  fi
  export DB_IP=${DB_IP:-127.0.0.1} DB_PORT DB_USER=${DB_USER:-tester} DB_PASSWORD=${DB_PASSWORD:-secret}
  cd "$SOURCE" || return
  # 99: a test hung; what is left is run again. 5: nothing of these markers, or nothing left.
  export OWN_LINES=$results PYTHONPATH=$OWN
  for _ in $(seq "$HANGS_MAX"); do
    timeout "$FILE_SECONDS_MAX" "$OWN/.venv/bin/python" -m pytest -o addopts="" -o log_cli_level=CRITICAL -m "$MARKERS" \
      -p no:timeout -p no:cacheprovider -p pymongo_plugin -q --tb=short --show-capture=no "$@" 2>&1 |
      cut -c1-2000 >>"$RESULTS/$name.txt"
    code=${PIPESTATUS[0]}
    [ "$code" = 99 ] || break
  done
  [ "$code" -le 1 ] || [ "$code" = 5 ] || echo "$*: ended with $code"
  if [ -n "$server" ]; then
    kill $server 2>/dev/null
    wait $server
    rm -rf "$folder"
  fi
  touch "$results"
  echo "$1: $(grep -c '"passed"' "$results") passed, $(grep -c '"failed"' "$results") failed"
}
export -f run

if [ $# -gt 0 ]; then
  files=("$@")
else
  folder_of_tests=test
  [ "$HALF" = async ] && folder_of_tests=test/asynchronous
  files=()
  for file in "$SOURCE/$folder_of_tests"/test_*.py; do
    [[ $(basename "$file") =~ ^$LEFT_OUT$ ]] || files+=("$folder_of_tests/$(basename "$file")")
  done
fi
printf '%s\n' "${files[@]}" | xargs -P "${OWN_JOBS:-2}" -I{} bash -c 'run "$1"' run {}

"$OWN/.venv/bin/python" "$OWN/pymongo_summary.py" "$OWN/pymongo-expected.txt" "$RESULTS"/*.jsonl >"$RESULTS/summary.txt"
code=$?
cat "$RESULTS/summary.txt"
cat "$RESULTS"/*.log 2>/dev/null | grep -hE '^(\S+\s+)?(WARN|ERROR)\b|panicked at' | sort | uniq -c |
  sort -rn | head -20 | sed 's/^/server log: /'
exit $code
