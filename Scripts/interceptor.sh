#!/usr/bin/env bash
# Puts mitmproxy before nginx, trusts its authority as a device would that was made to, and tests that a pin refuses it.
#
#   Scripts/interceptor.sh [DIR]    DIR keeps what was installed for the next run; the default is a temporary directory
#
# Needs a build of the tests, and what Scripts/integration-servers.sh needs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mitmproxy_version=11.0.2
dir=${1:-$(mktemp -d)}
mkdir -p "$dir"
proxy=
finish() {
    [ -z "$proxy" ] || kill "$proxy" 2>/dev/null || true
    Scripts/integration-servers.sh stop "$dir/servers"
}
trap finish EXIT
Scripts/integration-servers.sh start "$dir/servers"
# shellcheck source=/dev/null
. "$dir/servers/environment"

if [ ! -x "$dir/mitmproxy/bin/mitmdump" ]; then
    python3 -m venv "$dir/mitmproxy"
    "$dir/mitmproxy/bin/pip" install --quiet "mitmproxy==$mitmproxy_version"
fi
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
"$dir/mitmproxy/bin/mitmdump" --quiet --set confdir="$dir/authority" --listen-host 127.0.0.1 --listen-port "$port" \
    --set ssl_verify_upstream_trusted_ca="$RUNWAY_NGINX_CA" --mode "reverse:$RUNWAY_NGINX" >"$dir/mitmdump.log" 2>&1 &
proxy=$!
for _ in $(seq 150); do
    curl --silent --fail --noproxy '*' --max-time 5 --cacert "$dir/authority/mitmproxy-ca-cert.pem" \
        --output /dev/null "https://localhost:$port/iso_4217.json" && break
    kill -0 "$proxy" 2>/dev/null || { cat "$dir/mitmdump.log" >&2; exit 1; }
    sleep 0.2
done

export RUNWAY_INTERCEPTOR_PORT="$port" RUNWAY_INTERCEPTOR_CA="$dir/authority/mitmproxy-ca-cert.pem"
export RUNWAY_INTERCEPTOR_SERVER_PORT="${RUNWAY_NGINX##*:}" RUNWAY_INTERCEPTOR_SERVER_CA="$RUNWAY_NGINX_CA"
export RUNWAY_INTERCEPTOR_SERVER_CERTIFICATE="$dir/servers/server.pem"
swift test --skip-build --disable-xctest --filter 'RunwayTransportTests\.InterceptorTests'
