#!/usr/bin/env bash
# What our own connections cost beside AsyncHTTPClient, URLSession and libcurl, against one nginx on the loopback; and what the layer
# saves in a session of 1,000 calls.
# Needs root (for a mount namespace), nginx, openssl and libcurl (Debian: apt-get install -y nginx-light openssl libcurl4-openssl-dev).
#
#   ./run.sh throughput [OPTIONS]    calls a second and processor time
#   ./run.sh far [OPTIONS]           single calls at a round trip of 20 ms: cold, warm, large
#   ./run.sh first [OPTIONS]         the first call of a process
#   ./run.sh replay [OPTIONS]        a session of 1,000 calls of 330 answers at a round trip of 20 ms, 8 at a time
#                                    [--rounds N] [--seed N] [--cold] [--round-trip MILLISECONDS]; exits with 1 where it takes more
#                                    than 340 requests, 50 with merging, or more than a fifth of AsyncHTTPClient's time
#   ./run.sh soak [OPTIONS]          an hour of mixed traffic over connections that die
set -euo pipefail
cd "$(dirname "$0")"

swift build -c release --scratch-path .build-release

work=$(mktemp -d)
trap 'kill "$(cat "$work/nginx.pid" 2>/dev/null)" 2>/dev/null || true; rm -rf "$work"' EXIT
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
http1_port=$(free_port)
http2_port=$(free_port)

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=benchmark-root \
    -keyout "$work/root.key" -out "$work/root.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
    -keyout "$work/server.key" -out "$work/server.csr" 2>/dev/null
openssl x509 -req -in "$work/server.csr" -CA "$work/root.pem" -CAkey "$work/root.key" -CAcreateserial -days 2 \
    -extfile <(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:127.0.0.2') -out "$work/server.pem" 2>/dev/null

mkdir -p "$work/files"
head -c 768 /dev/urandom | base64 -w0 >"$work/files/1k"
head -c 1400000 /dev/zero >"$work/files/1400k"
head -c 38400 /dev/urandom | base64 -w0 >"$work/files/50k"
head -c 300000 /dev/urandom >"$work/files/300k"
# Uploads stay here, each under a name of its own, until they were read back.
mkdir "$work/uploads"
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
    ssl_certificate $work/server.pem;
    ssl_certificate_key $work/server.key;
    default_type application/json;
    root $work/files;
    server { listen 127.0.0.1:$http1_port ssl; }
    server {
        listen 127.0.0.1:$http2_port ssl http2;
        location /post { return 200 ok; }
        location /uploads/ { root $work; dav_methods PUT DELETE; client_max_body_size 1m; open_file_cache off; }
    }
}
CONF
# The workers of nginx run as another user, who has to be let in.
chmod -R a+rX "$work"
chmod a+w "$work/uploads"
nginx -c "$work/nginx.conf" -p "$work"

# URLSession on Linux trusts the system's file of roots and no other; in a mount namespace of its own it sees ours there too.
system_roots=/etc/ssl/certs/ca-certificates.crt
cat "$system_roots" "$work/root.pem" >"$work/roots.pem"
benchmark=$PWD/.build-release/release/WireBenchmark
runner=(unshare --mount bash -c 'mount --bind "$0" "$1" && exec "${@:2}"' "$work/roots.pem" "$system_roots")
"${runner[@]}" true || { echo "run.sh: needs root, for a mount namespace" >&2; exit 1; }

mode=${1:-throughput}
[ $# -eq 0 ] || shift
options=(--http1-port "$http1_port" --http2-port "$http2_port" --root "$work/root.pem" --files "$work/files" "$@")
if [ "$mode" = far ]; then
    "$benchmark" carry "${options[@]}" >"$work/far-port" &
    trap 'kill "$(cat "$work/nginx.pid")" %1 2>/dev/null || true; rm -rf "$work"' EXIT
    until [ -s "$work/far-port" ]; do sleep 0.1; done
    options+=(--far-port "$(cat "$work/far-port")")
fi
if [ "$mode" = replay ]; then
    "$benchmark" serve --certificate "$work/server.pem" --key "$work/server.key" "$@" >"$work/ports" &
    trap 'kill "$(cat "$work/nginx.pid")" %1 2>/dev/null || true; rm -rf "$work"' EXIT
    until [ -s "$work/ports" ]; do kill -0 %1 || exit 1; sleep 0.1; done
    read -r backend_port far_port <"$work/ports"
    options+=(--backend-port "$backend_port" --far-port "$far_port")
fi
"${runner[@]}" "$benchmark" "$mode" "${options[@]}"
