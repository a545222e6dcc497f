#!/usr/bin/env bash
# WebSockets with servers that nobody of this project wrote: PyPI's websockets, bare and behind those of nginx, Caddy and HAProxy that are
# installed, each with its default timeouts. Needs a build of the tests, and Python with venv and the network, or with that package.
# Options: PYTHON, an interpreter that has the package; without it one is made in a folder of its own.
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

python=${PYTHON:-}
if [ -z "$python" ]; then
    python3 -m venv "$folder/venv"
    "$folder/venv/bin/pip" install --quiet 'websockets>=14'
    python=$folder/venv/bin/python
fi

# Waits until something listens on a port.
await() {
    for _ in $(seq 600); do
        if (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
        sleep 0.05
    done
    echo "websockets.sh: nothing listens on port $1" >&2
    exit 1
}

# A port that is free now.
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

origin=$(free)
"$python" Scripts/peers/websocket_server.py "$origin" >/dev/null &
pids+=($!)
await "$origin"
servers="http://127.0.0.1:$origin"

if command -v nginx >/dev/null; then
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
    server {
        listen 127.0.0.1:$port;
        location / {
            proxy_pass http://127.0.0.1:$origin;
            proxy_http_version 1.1;
            proxy_set_header Upgrade \$http_upgrade;
            proxy_set_header Connection upgrade;
        }
    }
}
CONF
    nginx -c "$folder/nginx.conf" -e "$folder/nginx/error.log" &
    pids+=($!)
    await "$port"
    servers+=" http://127.0.0.1:$port"
fi

if command -v caddy >/dev/null; then
    port=$(free)
    printf '{\n\tadmin off\n\tauto_https off\n}\nhttp://127.0.0.1:%s {\n\treverse_proxy 127.0.0.1:%s\n}\n' "$port" "$origin" \
        >"$folder/Caddyfile"
    HOME=$folder caddy run --config "$folder/Caddyfile" --adapter caddyfile >"$folder/caddy.log" 2>&1 &
    pids+=($!)
    await "$port"
    servers+=" http://127.0.0.1:$port"
fi

if command -v haproxy >/dev/null; then
    port=$(free)
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
    haproxy -f "$folder/haproxy.cfg" >"$folder/haproxy.log" 2>&1 &
    pids+=($!)
    await "$port"
    servers+=" http://127.0.0.1:$port"
fi

echo "websockets.sh: $servers"
RUNWAY_WEBSOCKETS=$servers swift test --skip-build --filter 'RunwayTransportTests\.WebSocketInteroperationTests'
