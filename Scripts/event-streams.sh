#!/usr/bin/env bash
# Event streams with peers that nobody of this project wrote: Chromium's EventSource as a client of EventStreamRoute, PyPI's aiohttp-sse as a
# server of the client, and nginx, Caddy and HAProxy between both, each with its default timeouts.
#
#   Scripts/event-streams.sh          the browser and the server
#   Scripts/event-streams.sh quiet    also a stream behind the proxies that is quiet for 70 s, longer than they wait; takes 80 s more
#
# Needs a build, and Python with venv and the network, or with those packages; says what is not installed. Options: PYTHON, an interpreter
# that has aiohttp-sse and Playwright; without it one is made in a folder of its own.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# shellcheck source=Scripts/peers/opening.sh
. Scripts/peers/opening.sh
use_python 'aiohttp>=3.10' 'aiohttp-sse>=2.2' 'playwright>=1.49'
programs=$(swift build --show-bin-path)

# The client of a server by aiohttp-sse, which sends five numbers on each connection and ends the stream with 204.
port=$(free)
"$python" Scripts/peers/event_server.py "$port" &
pids+=($!)
await "$port"
"$programs/runway" listen "http://127.0.0.1:$port/numbers" --json >"$folder/received"
"$python" - "$folder/received" <<'CHECK'
import json, sys

received = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
events = [entry for entry in received if "id" in entry]
connections = [entry["connection"] for entry in received if "connection" in entry]
expected = [("number", str(n), json.dumps({"n": n}) + "\nzweite Zeile: äöü") for n in range(1, 21)]
assert [(event["type"], event["id"], event["data"]) for event in events] == expected, events
assert connections == ["reset"] + ["resumed"] * 3, connections
print(f"aiohttp-sse: {len(events)} events over {len(connections)} connections, each once")
CHECK

if has chromium; then
    "$python" Scripts/peers/event_source.py "$programs/RunwayCrashTest" "$(command -v chromium)" "$folder"
fi

[ "${1:-}" = quiet ] || exit 0

# One event at the start, and the next after 70 s: between them there are heartbeats alone.
origin=$(free)
"$programs/RunwayCrashTest" event-server --file "$folder/quiet.sqlite" --port "$origin" --pace 70000 >/dev/null &
pids+=($!)
await "$origin"
names=(direct)
ports=("$origin")

if has nginx; then
    port=$(free)
    start_nginx "$port" "$origin" 'gzip on; gzip_types *;' ''
    names+=(nginx)
    ports+=("$port")
fi

if has caddy; then
    port=$(free)
    start_caddy "$port" "$origin" encode
    names+=(Caddy)
    ports+=("$port")
fi

if has haproxy; then
    port=$(free)
    start_haproxy "$port" "$origin" ''
    names+=(HAProxy)
    ports+=("$port")
fi

clients=()
for index in "${!names[@]}"; do
    timeout 120 "$programs/runway" listen "http://127.0.0.1:${ports[index]}/events" --json --count 1 >"$folder/quiet-$index" &
    clients+=($!)
done
for index in "${!names[@]}"; do
    wait "${clients[index]}" || fail "the stream behind ${names[index]} ended: $(cat "$folder/quiet-$index")"
    connections=$(grep -c '"connection":"re' "$folder/quiet-$index")
    [ "$connections" = 1 ] || fail "behind ${names[index]} there were $connections connections: $(cat "$folder/quiet-$index")"
    echo "${names[index]}: an event after 70 quiet seconds on the first connection"
done
