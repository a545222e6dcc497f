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

# shellcheck source=Scripts/peers/opening.sh
. Scripts/peers/opening.sh
use_python 'websockets>=14' 'hypercorn>=0.17'

origin=$(free)
"$python" Scripts/peers/websocket_server.py "$origin" >/dev/null &
pids+=($!)
await "$origin"
servers="http://127.0.0.1:$origin"

if has nginx; then
    port=$(free)
    # nginx takes the variables.
    # shellcheck disable=SC2016
    start_nginx "$port" "$origin" '' \
        'proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;'
    servers+=" http://127.0.0.1:$port"
fi

if has caddy; then
    port=$(free)
    start_caddy "$port" "$origin" ''
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
    start_haproxy "$port" "$origin" "bind 127.0.0.1:$secure ssl crt $folder/both.pem alpn h2,http/1.1"
    servers+=" http://127.0.0.1:$port"
    streams+=" https://localhost:$secure"
fi

echo "websockets.sh: $servers, on streams of HTTP/2 $streams"
export RUNWAY_WEBSOCKETS=$servers RUNWAY_WEBSOCKET_STREAMS=$streams RUNWAY_WEBSOCKET_AUTHORITY=$folder/authority.pem
swift test --skip-build --filter 'RunwayTransportTests\.WebSocketInteroperationTests'
if [ "${1:-}" = quiet ]; then swift test --skip-build --filter 'RunwayStreamsTests\.QuietWebSocketTests'; fi
