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

folder=$(mktemp -d)
pids=()
# Called by the trap.
# shellcheck disable=SC2317
end() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap end EXIT

fail() {
    echo "event-streams.sh: $*" >&2
    exit 1
}

programs=$(swift build --show-bin-path)
python=${PYTHON:-}
if [ -z "$python" ]; then
    python3 -m venv "$folder/venv"
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 "$folder/venv/bin/pip" install --quiet 'aiohttp>=3.10' 'aiohttp-sse>=2.2' 'playwright>=1.49'
    python=$folder/venv/bin/python
fi

# Waits until something listens on a port.
await() {
    for _ in $(seq 600); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.05
    done
    fail "nothing listens on port $1"
}

# Whether a program is installed.
has() {
    if command -v "$1" >/dev/null; then return; fi
    echo "event-streams.sh: $1 is not installed: not run with it" >&2
    return 1
}

# A port that is free now.
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

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

# One event at the start, and the next after 70 s: between them there are signs of life alone.
origin=$(free)
"$programs/RunwayCrashTest" event-server --file "$folder/quiet.sqlite" --port "$origin" --pace 70000 >/dev/null &
pids+=($!)
await "$origin"
names=(direct)
ports=("$origin")

if has nginx; then
    port=$(free)
    mkdir -p "$folder/nginx"
    cat >"$folder/nginx.conf" <<CONF
daemon off;
worker_processes 1;
pid $folder/nginx/pid;
error_log $folder/nginx/error.log;
events {}
http {
    access_log off;
    client_body_temp_path $folder/nginx; proxy_temp_path $folder/nginx; fastcgi_temp_path $folder/nginx;
    uwsgi_temp_path $folder/nginx; scgi_temp_path $folder/nginx;
    gzip on;
    gzip_types *;
    server {
        listen 127.0.0.1:$port;
        location / { proxy_pass http://127.0.0.1:$origin; }
    }
}
CONF
    nginx -c "$folder/nginx.conf" -e "$folder/nginx/error.log" &
    pids+=($!)
    await "$port"
    names+=(nginx)
    ports+=("$port")
fi

if has caddy; then
    port=$(free)
    printf '{\n\tadmin off\n\tauto_https off\n}\nhttp://127.0.0.1:%s {\n\tencode\n\treverse_proxy 127.0.0.1:%s\n}\n' "$port" "$origin" \
        >"$folder/Caddyfile"
    HOME=$folder caddy run --config "$folder/Caddyfile" --adapter caddyfile >"$folder/caddy.log" 2>&1 &
    pids+=($!)
    await "$port"
    names+=(Caddy)
    ports+=("$port")
fi

if has haproxy; then
    port=$(free)
    # The timeouts of the configuration that Debian ships.
    cat >"$folder/haproxy.cfg" <<CONF
defaults
    mode http
    timeout connect 5s
    timeout client 50s
    timeout server 50s
frontend front
    bind 127.0.0.1:$port
    default_backend back
backend back
    server origin 127.0.0.1:$origin
CONF
    haproxy -f "$folder/haproxy.cfg" &
    pids+=($!)
    await "$port"
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
