#!/usr/bin/env bash
# What our own connections cost beside AsyncHTTPClient, URLSession and libcurl, against one nginx; and what the layer saves in a session of
# 1,000 calls.
# Needs Linux, root (for namespaces), nginx, openssl and libcurl (Debian: apt-get install -y nginx-light openssl libcurl4-openssl-dev).
#
#   ./run.sh throughput [OPTIONS]    calls a second and processor time, on the loopback
#   ./run.sh profile [CALLS [NAME]...]
#                                    where the processor's time goes in NIOTransport alone and in libcurl, or in other contenders of
#                                    throughput, of 40,000 calls of 1 KB over HTTP/2 on the loopback, 1 and 16 at a time. Needs perf
#                                    (Debian: apt-get install -y linux-perf)
#   ./run.sh far [OPTIONS]           single calls at a round trip of 20 ms: cold, warm, large. [--rounds N] [--round-trip MILLISECONDS]
#                                    The server has a network namespace of its own, the clients have another, and FarPath carries the
#                                    packets between their TUN devices, so that opening a connection, TLS and HTTP all take their round
#                                    trips. Needs /dev/net/tun and ip (Debian: apt-get install -y iproute2)
#   ./run.sh first [OPTIONS]         the first call of a process on the loopback, to the first byte of its answer and to the last
#   ./run.sh replay [OPTIONS]        a session of 1,000 calls of 330 answers at a round trip of 20 ms, 8 at a time, with 300 events of a log
#                                    [--rounds N] [--seed N] [--cold] [--round-trip MILLISECONDS]; exits with 1 where it takes more
#                                    than 350 requests, 50 with merging, or more than a fifth of AsyncHTTPClient's time, or where an
#                                    event is missing
#   ./run.sh soak [OPTIONS]          an hour of mixed traffic and event streams over connections that die
set -euo pipefail
cd "$(dirname "$0")"

mode=${1:-throughput}
[ $# -eq 0 ] || shift
missing() {
    echo "run.sh $mode: needs $1" >&2
    exit 1
}
case $mode in
    far)
        command -v ip >/dev/null || missing "ip (Debian: apt-get install -y iproute2)"
        [ -c /dev/net/tun ] || missing "/dev/net/tun"
        ;;
    profile)
        perf record -e cpu-clock -g -o - true >/dev/null 2>&1 || missing "perf that may record (Debian: apt-get install -y linux-perf)"
        ;;
esac

SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path .build-release
binaries=$PWD/.build-release/release
benchmark=$binaries/WireBenchmark

work=$(mktemp -d)
background=
near=runway-near-$$
far=runway-far-$$
clean_up() {
    [ -z "$background" ] || kill "$background" 2>/dev/null || true
    [ ! -s "$work/nginx.pid" ] || kill "$(cat "$work/nginx.pid")" 2>/dev/null || true
    if [ "$mode" = far ]; then
        for side in "$near" "$far"; do ip netns delete "$side" 2>/dev/null || true; done
    fi
    rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM
# Waits for what the program in the background says when it is ready.
await_output() {
    until [ -s "$1" ]; do
        kill -0 "$background" 2>/dev/null || exit 1
        sleep 0.1
    done
}
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
http1_port=$(free_port)
http2_port=$(free_port)
echo_port=7
server_address=127.0.0.1
at_server=()
at_client=()

if [ "$mode" = far ]; then
    server_address=192.0.2.2
    at_server=(ip netns exec "$far")
    at_client=(ip netns exec "$near")
    round_trip=20
    arguments=("$@")
    for index in "${!arguments[@]}"; do
        [ "${arguments[index]}" != --round-trip ] || round_trip=${arguments[index + 1]}
    done
    for side in "$near" "$far"; do
        ip netns add "$side"
        ip -n "$side" link set lo up
        ip -n "$side" tuntap add dev tun0 mode tun
        # A whole window may come at once.
        ip -n "$side" link set tun0 txqueuelen 16384 up
        # What one connection learned of the path would help the next one, which is to be cold.
        ip netns exec "$side" sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_no_metrics_save'
    done
    ip -n "$near" address add 192.0.2.1 peer "$server_address" dev tun0
    ip -n "$far" address add "$server_address" peer 192.0.2.1 dev tun0
    "$binaries/FarPath" "$near" "$far" tun0 "$((round_trip * 1000))" "$echo_port" >"$work/path" &
    background=$!
    await_output "$work/path"
fi

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=benchmark-root \
    -keyout "$work/root.key" -out "$work/root.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
    -keyout "$work/server.key" -out "$work/server.csr" 2>/dev/null
openssl x509 -req -in "$work/server.csr" -CA "$work/root.pem" -CAkey "$work/root.key" -CAcreateserial -days 2 \
    -extfile <(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:127.0.0.2,IP:192.0.2.2') -out "$work/server.pem" 2>/dev/null

mkdir -p "$work/files"
# A JSON string of so many bytes, as the media type has it: a manager reads the JSON of its responses.
json() { printf '"%s"' "$(head -c "$1" /dev/urandom | base64 -w0 | head -c $(($1 - 2)))"; }
json 1024 >"$work/files/1k"
head -c 1400000 /dev/zero >"$work/files/1400k"
json 51200 >"$work/files/50k"
head -c 300000 /dev/urandom >"$work/files/300k"
# Uploads stay here, each under a name of its own, until they were read back.
mkdir "$work/uploads"
# Old versions of nginx speak TLS 1.3 only where told to. With TLS 1.2 the server ends the handshake, and its HTTP/2 settings come with that
# end; with TLS 1.3 they come a round trip later, as they do from most servers that apps call.
cat >"$work/nginx.conf" <<CONF
worker_processes 1;
pid $work/nginx.pid;
error_log $work/error.log;
events { worker_connections 1024; }
http {
    access_log off;
    client_body_temp_path $work/body; proxy_temp_path $work/proxy; fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi; scgi_temp_path $work/scgi;
    keepalive_requests 100000000;
    open_file_cache max=16;
    http2_max_concurrent_streams 256;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_certificate $work/server.pem;
    ssl_certificate_key $work/server.key;
    default_type application/json;
    root $work/files;
    server { listen $server_address:$http1_port ssl; }
    server {
        listen $server_address:$http2_port ssl http2;
        location /post { return 200 ok; }
        location /uploads/ { root $work; dav_methods PUT DELETE; client_max_body_size 1m; open_file_cache off; }
    }
}
CONF
# The workers of nginx run as another user, who has to be let in.
chmod -R a+rX "$work"
chmod a+w "$work/uploads"
"${at_server[@]}" nginx -c "$work/nginx.conf" -p "$work"

# URLSession on Linux trusts the system's roots and no other; in a mount namespace of its own it sees ours among them, in the bundle and under
# the hash of its name, as if it had been installed.
system_roots=/etc/ssl/certs
cp -a "$system_roots" "$work/roots"
cp "$work/root.pem" "$work/roots/benchmark.pem"
ln -s benchmark.pem "$work/roots/$(openssl x509 -in "$work/root.pem" -noout -hash).0"
cat "$work/root.pem" >>"$work/roots/ca-certificates.crt"
runner=("${at_client[@]}" unshare --mount bash -c 'mount --bind "$0" "$1" && exec "${@:2}"' "$work/roots" "$system_roots")
"${runner[@]}" true || missing "root, for a mount namespace"

options=(--http1-port "$http1_port" --http2-port "$http2_port" --root "$work/root.pem" --files "$work/files")
if [ "$mode" = far ]; then
    options+=(--host "$server_address" --echo-port "$echo_port")
fi
if [ "$mode" = replay ]; then
    "$benchmark" serve --certificate "$work/server.pem" --key "$work/server.key" "$@" >"$work/ports" &
    background=$!
    await_output "$work/ports"
    read -r backend_port far_port <"$work/ports"
    options+=(--backend-port "$backend_port" --far-port "$far_port")
fi
[ "$mode" != soak ] || options+=(--certificate "$work/server.pem" --key "$work/server.key")
if [ "$mode" = profile ]; then
    calls=${1:-40000}
    contenders=("${@:2}")
    [ $# -ge 2 ] || contenders=(NIOTransport libcurl)
    for width in 1 16; do
        columns=()
        for contender in "${contenders[@]}"; do
            perf record -e cpu-clock -F 2000 -g -o "$work/perf.data" -- \
                "$benchmark" throughput "${options[@]}" --only h2 --sizes 1k --at "$width" --contenders "$contender" \
                --rounds 1 --calls "$calls" >"$work/$contender.txt" 2>"$work/perf.log" || { cat "$work/perf.log" >&2; exit 1; }
            perf script --no-inline -F ip,sym,dso -i "$work/perf.data" >"$work/$contender.samples" 2>/dev/null
            cat "$work/$contender.txt"
            columns+=("$contender" "$work/$contender.txt" "$work/$contender.samples")
        done
        python3 profile.py "${columns[@]}" | swift demangle --simplified | cut -c1-140
    done
    exit
fi
"${runner[@]}" "$benchmark" "$mode" "${options[@]}" "$@"
