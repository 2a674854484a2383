# Shell functions for the SDKs' own tests; sourced, not run.
#
# Those tests have addresses written into them: https://localhost:8081/, or hosts of the cloud on port 443. So a suite
# runs in a network namespace of its own, where every port is free, names lead to this machine, and nothing else is
# within reach. It needs `unshare` and `ip`, and no privileges.

OWN=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ARMILLA_BIN=${ARMILLA_BIN:-$OWN/../../target/debug/armilla}
KEY='C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=='
READY_SECONDS_MAX=30

# Runs this script again inside the namespace; what needs the network comes before.
enter_room() {
  [ -n "${OWN_ROOM:-}" ] && return
  OWN_ROOM=$(mktemp -d) || exit 1
  export OWN_ROOM
  unshare --map-root-user --net --mount bash "$0" "$@"
  local code=$?
  # The log of a server is kept where OWN_LOGS says.
  [ -n "${OWN_LOGS:-}" ] && mkdir -p "$OWN_LOGS" && cp "$OWN_ROOM"/*.log "$OWN_ROOM"/*.txt "$OWN_LOGS"/ 2>/dev/null
  rm -rf "$OWN_ROOM"
  exit $code
}

# Brings the loopback device up and gives names to its addresses: furnish "127.0.0.2 name"...
furnish() {
  ip link set lo up
  { echo "127.0.0.1 localhost"; printf '%s\n' "$@"; } >"$OWN_ROOM/hosts"
  mount --bind "$OWN_ROOM/hosts" /etc/hosts
  trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT
}

# Starts a server and waits until it is ready: serve NAME FLAGS...
serve() {
  local name=$1 deadline=$((SECONDS + READY_SECONDS_MAX))
  shift
  NO_COLOR=1 "$ARMILLA_BIN" --data-dir "$OWN_ROOM/$name" "$@" >"$OWN_ROOM/$name.out" 2>"$OWN_ROOM/$name.log" &
  until grep -q '^armilla ready:' "$OWN_ROOM/$name.out"; do
    if [ $SECONDS -gt $deadline ] || ! kill -0 $! 2>/dev/null; then
      cat "$OWN_ROOM/$name.log" >&2
      exit 1
    fi
    sleep 0.1
  done
}

# Prints what the servers complained about; the SDKs' tests do not look.
complaints() {
  grep -hE '^(\S+\s+)?(WARN|ERROR)\b|panicked at' "$OWN_ROOM"/*.log | sed 's/^/server log: /'
}
