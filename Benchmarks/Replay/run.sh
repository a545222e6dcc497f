#!/usr/bin/env bash
# One session of an app, replayed over the layer, over AsyncHTTPClient alone and over URLSession, through a proxy that delays.
# Needs openssl (Debian: apt-get install -y openssl) and root, for a mount namespace. Arguments go to the benchmark; see --help there.
# The exit code says whether the goals on the number of requests were reached.
set -euo pipefail
cd "$(dirname "$0")"

swift build -c release --scratch-path .build-release

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=benchmark-root \
    -keyout "$work/root.key" -out "$work/root.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
    -keyout "$work/server.key" -out "$work/server.csr" 2>/dev/null
openssl x509 -req -in "$work/server.csr" -CA "$work/root.pem" -CAkey "$work/root.key" -CAcreateserial -days 2 \
    -extfile <(printf 'subjectAltName=DNS:localhost,IP:127.0.0.1') -out "$work/server.pem" 2>/dev/null

# URLSession on Linux trusts the system's file of roots and no other; in a mount namespace of its own it sees ours there.
system_roots=/etc/ssl/certs/ca-certificates.crt
unshare --mount bash -c 'mount --bind "$0" "$1" && exec "${@:2}"' "$work/root.pem" "$system_roots" \
    .build-release/release/ReplayBenchmark \
    --root "$work/root.pem" --certificate "$work/server.pem" --key "$work/server.key" "$@"
