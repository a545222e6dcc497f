#!/usr/bin/env bash
# WebSockets with servers that nobody of this project wrote. Over HTTP/1.1: PyPI's websockets, bare and behind nginx, Caddy and HAProxy,
# each with its default timeouts. On streams of HTTP/2 over TLS: PyPI's hypercorn, and websockets behind HAProxy.
#
#   Scripts/websockets.sh          messages, fragments and pings
#   Scripts/websockets.sh quiet    also a server that says nothing for longer than the proxies wait; takes 80 s
#
# Needs a build of the tests, openssl, and Python with venv and the network, or with those packages; says which proxies are not installed.
# Options: PYTHON, an interpreter that has the packages; without it one is made in a folder of its own.
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
    "$folder/venv/bin/pip" install --quiet 'websockets>=14' 'hypercorn>=0.17'
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

# Whether a proxy is installed.
has() {
    if command -v "$1" >/dev/null; then return; fi
    echo "websockets.sh: $1 is not installed: not run behind it" >&2
    return 1
}

# A port that is free now.
free() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

origin=$(free)
"$python" Scripts/peers/websocket_server.py "$origin" >/dev/null &
pids+=($!)
await "$origin"
servers="http://127.0.0.1:$origin"

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

if has caddy; then
    port=$(free)
    printf '{\n\tadmin off\n\tauto_https off\n}\nhttp://127.0.0.1:%s {\n\treverse_proxy 127.0.0.1:%s\n}\n' "$port" "$origin" \
        >"$folder/Caddyfile"
    HOME=$folder caddy run --config "$folder/Caddyfile" --adapter caddyfile >"$folder/caddy.log" 2>&1 &
    pids+=($!)
    await "$port"
    servers+=" http://127.0.0.1:$port"
fi

(
    cd "$folder"
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=authority -keyout authority.key \
        -out authority.pem
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout server.key -out server.csr
    openssl x509 -req -in server.csr -CA authority.pem -CAkey authority.key -days 2 -copy_extensions copy -out server.pem
    cat server.pem server.key >both.pem
) >"$folder/openssl.log" 2>&1 || { cat "$folder/openssl.log" >&2; exit 1; }

port=$(free)
PYTHONPATH=Scripts/peers "$python" -m hypercorn --bind "127.0.0.1:$port" --certfile "$folder/server.pem" --keyfile "$folder/server.key" \
    websocket_asgi:app >"$folder/hypercorn.log" 2>&1 &
pids+=($!)
await "$port"
streams="https://localhost:$port"

if has haproxy; then
    port=$(free)
    secure=$(free)
    cat >"$folder/haproxy.cfg" <<CONF
defaults
    mode http
    timeout connect 5s
    timeout client 50s
    timeout server 50s
frontend front
    bind 127.0.0.1:$port
    bind 127.0.0.1:$secure ssl crt $folder/both.pem alpn h2,http/1.1
    default_backend back
backend back
    server origin 127.0.0.1:$origin
CONF
    haproxy -f "$folder/haproxy.cfg" >"$folder/haproxy.log" 2>&1 &
    pids+=($!)
    await "$port"
    servers+=" http://127.0.0.1:$port"
    streams+=" https://localhost:$secure"
fi

echo "websockets.sh: $servers, on streams of HTTP/2 $streams"
export RUNWAY_WEBSOCKETS=$servers RUNWAY_WEBSOCKET_STREAMS=$streams RUNWAY_WEBSOCKET_AUTHORITY=$folder/authority.pem
swift test --skip-build --filter 'RunwayTransportTests\.WebSocketInteroperationTests'
if [ "${1:-}" = quiet ]; then swift test --skip-build --filter 'RunwayStreamsTests\.QuietWebSocketTests'; fi
