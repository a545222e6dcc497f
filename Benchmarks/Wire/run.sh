#!/usr/bin/env bash
# What our own connections cost beside AsyncHTTPClient, against one nginx on the loopback.
# Needs nginx and openssl (Debian: apt-get install -y nginx-light openssl). Arguments go to the benchmark; see --help there.
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
    -extfile <(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1') -out "$work/server.pem" 2>/dev/null

mkdir -p "$work/files"
head -c 1024 /dev/urandom | base64 -w0 | head -c 1024 >"$work/files/1k"
head -c 51200 /dev/urandom | base64 -w0 | head -c 51200 >"$work/files/50k"
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
    server { listen 127.0.0.1:$http2_port ssl http2; }
}
CONF
# The workers of nginx run as another user, who has to be let in.
chmod -R a+rX "$work"
nginx -c "$work/nginx.conf" -p "$work"

.build-release/release/WireBenchmark --http1-port "$http1_port" --http2-port "$http2_port" --root "$work/root.pem" "$@"
