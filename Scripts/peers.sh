#!/usr/bin/env bash
# Makes thousands of exchanges through both transports with servers that nobody of this project wrote: nginx and httpbin, and beside
# them nghttpd, Caddy and Hypercorn, and compares what comes out. By hand: it installs Debian packages and takes minutes.
#
#   Scripts/peers.sh              2,000 exchanges with each server and version of HTTP
#   RUNWAY_EXCHANGES=100 Scripts/peers.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
scripts=$PWD/Scripts

missing=()
command -v nghttpd >/dev/null || missing+=(nghttp2-server)
command -v caddy >/dev/null || missing+=(caddy)
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" -eq 0 ] || { echo "peers.sh: run as root once, or install these first: ${missing[*]}" >&2; exit 1; }
    echo "peers.sh: installing ${missing[*]}" >&2
    apt-get update -qq
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi

SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests

dir=$(mktemp -d)
pids=()
# Called by the trap.
# shellcheck disable=SC2317
end() {
    [ ${#pids[@]} -eq 0 ] || kill "${pids[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    "$scripts/integration-servers.sh" stop "$dir"
    rm -rf "$dir"
}
trap end EXIT
"$scripts/integration-servers.sh" start "$dir"
# shellcheck source=/dev/null
. "$dir/environment"

mkdir -p "$dir/files"
for size in 0 1 1000 16384 65535 1048577; do
    python3 -c "import sys; n = int(sys.argv[1]); sys.stdout.buffer.write(bytes(i * 7 % 251 for i in range(n)))" "$size" \
        >"$dir/files/$size.bin"
done
python3 -c 'print("上海 rental listing, 价格 5000.\n" * 500)' >"$dir/files/text.txt"

"$dir/venv/bin/pip" install --quiet 'hypercorn==0.17.3' 2>/dev/null

read -r nghttpd caddy caddy_plain hypercorn hypercorn_plain < <(python3 -c '
import socket
sockets = [socket.socket() for _ in range(5)]
for s in sockets: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in sockets))')

nghttpd --htdocs="$dir/files" --echo-upload --trailer 'x-trailer: end' --address=127.0.0.1 "$nghttpd" \
    "$dir/server.key" "$dir/server.pem" >"$dir/nghttpd.log" 2>&1 &
pids+=($!)

cat >"$dir/Caddyfile" <<EOF
{
    admin off
    auto_https off
    storage file_system $dir/caddy
}
https://localhost:$caddy {
    tls $dir/server.pem $dir/server.key
    encode gzip
    root * $dir/files
    file_server
}
http://localhost:$caddy_plain {
    encode gzip
    root * $dir/files
    file_server
}
EOF
HOME=$dir caddy run --config "$dir/Caddyfile" --adapter caddyfile >"$dir/caddy.log" 2>&1 &
pids+=($!)

# By default it ends a connection after 1,000 requests, which the transports meet at different ones.
echo 'keep_alive_max_requests = 1000000000' >"$dir/hypercorn.toml"
(cd "$scripts/peers" && PYTHONDONTWRITEBYTECODE=1 exec "$dir/venv/bin/hypercorn" app:app --config "$dir/hypercorn.toml" --bind "127.0.0.1:$hypercorn" \
    --insecure-bind "127.0.0.1:$hypercorn_plain" --certfile "$dir/server.pem" --keyfile "$dir/server.key" \
    --log-level error >"$dir/hypercorn.log" 2>&1) &
pids+=($!)

for url in "https://localhost:$nghttpd/1.bin" "https://localhost:$caddy/1.bin" "http://localhost:$caddy_plain/1.bin" \
    "https://localhost:$hypercorn/echo" "http://127.0.0.1:$hypercorn_plain/echo"; do
    curl --silent --show-error --fail --noproxy '*' --retry 30 --retry-delay 1 --retry-all-errors --cacert "$RUNWAY_NGINX_CA" \
        --output /dev/null "$url" 2>"$dir/curl.log" || { cat "$dir"/*.log >&2; echo "peers.sh: $url did not come up" >&2; exit 1; }
done

# Each one's kind of exchange, and where it is.
export RUNWAY_PEERS="files $RUNWAY_NGINX
files $RUNWAY_NGINX_PLAIN
files https://localhost:$nghttpd
files https://localhost:$caddy
files http://localhost:$caddy_plain
app https://localhost:$hypercorn
app http://127.0.0.1:$hypercorn_plain
httpbin $RUNWAY_HTTPBIN"
export RUNWAY_EXCHANGES=${RUNWAY_EXCHANGES:-2000}
swift test --skip-build --filter 'RunwayTransportTests.PeerDifferenceTests'
echo "peers.sh: no difference"
