#!/usr/bin/env bash
# A large download and a large upload over nginx on the loopback: in how much memory, whether a download whose process is killed in the
# middle, several times, goes on where it ended, and an upload whose connection is cut twice is sent again; and whether all of them are
# byte-identical at the end.
#
#   Scripts/transfer.sh [MEBIBYTES]     the default is 2048; wants three times that on the disk of TMPDIR
#
# Wants nginx with its DAV module, and the tests built: swift build --build-tests. RUNWAY_TESTS names another build of them.
set -euo pipefail

size=${1:-2048}
tests=${RUNWAY_TESTS:-.build/debug/runwayPackageTests.xctest}
PATH=$PATH:/usr/sbin
dir=$(mktemp -d)
trap 'kill "$(cat "$dir/nginx.pid" 2>/dev/null)" 2>/dev/null || true; rm -rf "$dir"' EXIT

port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir -p "$dir/files" "$dir/nginx"
{
    [ "$(id -u)" -ne 0 ] || echo "user root;"
    cat <<CONF
worker_processes 1;
pid $dir/nginx.pid;
error_log $dir/nginx.log;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path $dir/nginx/body;
    proxy_temp_path $dir/nginx/proxy;
    fastcgi_temp_path $dir/nginx/fastcgi;
    uwsgi_temp_path $dir/nginx/uwsgi;
    scgi_temp_path $dir/nginx/scgi;
    server {
        listen 127.0.0.1:$port;
        root $dir/files;
        dav_methods PUT;
        client_max_body_size 0;
    }
}
CONF
} >"$dir/nginx.conf"
nginx -c "$dir/nginx.conf" -p "$dir"

dd if=/dev/urandom of="$dir/files/film" bs=1M count="$size" status=none

transfer() {
    RUNWAY_TRANSFER=$1 RUNWAY_TRANSFER_URL="http://127.0.0.1:$port/$2" RUNWAY_TRANSFER_FILE="$3" \
        "$tests" --testing-library swift-testing --filter TransferMeasurement 2>&1 | grep -E "loaded|recorded|error" || true
}

echo "A download in one go:"
transfer download film "$dir/once"
cmp "$dir/files/film" "$dir/once" && echo "byte-identical"
rm "$dir/once"

echo "A download whose process is killed (SIGKILL) five times:"
for _ in 1 2 3 4 5; do
    # Not through the pipe of transfer: it is the test process that has to be killed.
    RUNWAY_TRANSFER=download RUNWAY_TRANSFER_URL="http://127.0.0.1:$port/film" RUNWAY_TRANSFER_FILE="$dir/copy" \
        "$tests" --testing-library swift-testing --filter TransferMeasurement >"$dir/log" 2>&1 &
    before=$(stat -c %s "$dir/copy.part" 2>/dev/null || echo 0)
    # It is killed when another tenth of the file has come.
    while kill -0 $! 2>/dev/null; do
        now=$(stat -c %s "$dir/copy.part" 2>/dev/null || echo 0)
        [ "$now" -gt $((before + size * 1024 * 1024 / 10)) ] && break
        sleep 0.02
    done
    kill -KILL $! 2>/dev/null || true
    wait $! 2>/dev/null || true
    echo "killed at $(stat -c %s "$dir/copy.part" 2>/dev/null || echo "the end")"
done
transfer download film "$dir/copy"
cmp "$dir/files/film" "$dir/copy" && echo "byte-identical"
rm "$dir/copy"

echo "An upload:"
mv "$dir/files/film" "$dir/film"
transfer upload received "$dir/film"
cmp "$dir/film" "$dir/files/received" && echo "byte-identical"
rm "$dir/files/received"

# nginx gathers a body in a file and moves that to its place at the end. Its worker holds the connection; the server starts another.
body_byte_count() { find "$dir/nginx/body" -type f -printf '%s\n' | sort -n | tail -n 1; }

echo "An upload whose connection is cut twice, at a third and at two thirds:"
transfer upload received "$dir/film" &
for thirds in 1 2; do
    while kill -0 $! 2>/dev/null; do
        now=$(body_byte_count)
        [ "${now:-0}" -gt $((size * 1024 * 1024 * thirds / 3)) ] && break
        sleep 0.02
    done
    echo "cut at ${now:-the end}"
    kill -KILL "$(pgrep -P "$(cat "$dir/nginx.pid")")"
    rm -f "$dir/nginx/body"/*
done
wait $!
cmp "$dir/film" "$dir/files/received" && echo "byte-identical"
