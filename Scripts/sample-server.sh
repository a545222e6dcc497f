#!/bin/bash
# Builds the sample server with what it imports, runs it, and uses every part of it over a socket: by SampleClient, which has the code of
# the apps in Samples/Shared, and by requests that must be refused. The manifest in Samples/Server is read, and compared with the build's.
# SampleClient also visits the pages in Samples/Web in Chromium, if it is installed or RUNWAY_REQUIRE_BROWSER is set, and stores pictures
# of them in the folder that PICTURES names, by default .build/pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
server=
trap 'if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; fi; rm -rf "$work"' EXIT

swift package --package-path Samples/Server --scratch-path "$work/manifest" dump-package >"$work/manifest.json"
for module in $(sed -n 's/^import //p' Samples/Server/Sources/SampleServer/*.swift | sort -u); do
    grep -q "\"$module\"" "$work/manifest.json" || [ "$module" = Foundation ] ||
        { echo "Samples/Server/Package.swift lacks $module"; exit 1; }
done
# The shop is an addition, which a server without web views leaves out.
lines=$(find Samples/Server/Package.swift Samples/Server/Sources ! -name Shop.swift -name '*.swift' -exec cat {} + | wc -l)
[ "$lines" -lt 250 ] || { echo "the sample server has $lines lines"; exit 1; }
shim=$(wc -l <Samples/Web/load.js)
[ "$shim" -le 40 ] || { echo "the shim for pages with callbacks has $shim lines"; exit 1; }

export SWIFT_DETERMINISTIC_HASHING=1 RUNWAY_SAMPLES=1
for product in SampleServer SampleClient; do swift build --product "$product"; done

# serve [HOST]: the server, at its port.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
url=http://127.0.0.1:$port
serve() {
    SAMPLE_PAGES=Samples/Web SAMPLE_ACCOUNTS=anna:secret,ben:other,eve:third .build/debug/SampleServer "$work/data" "$port" "$@" >"$work/output" &
    server=$!
    for _ in $(seq 1200); do curl -s -o "$work/body" "$url/v1/rentals/1" && return; sleep 0.1; done
    echo "the server does not start"; exit 1
}
# expect STATUS CURL-ARGUMENTS: a request, and the status of its response.
expect() {
    local wanted=$1 found
    shift
    found=$(curl -s -o "$work/body" -w '%{http_code}' "$@")
    [ "$found" = "$wanted" ] || { echo "$found instead of $wanted: $*"; cat "$work/body"; exit 1; }
}
token() {
    curl -s -H 'Content-Type: application/json' -d "{\"name\":\"$1\",\"password\":\"$2\"}" "$url/v1/tokens" |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["access_token"])'
}

serve
pictures=${PICTURES:-.build/pictures}
if [ -z "${RUNWAY_REQUIRE_BROWSER:-}" ] && ! command -v chromium >/dev/null; then
    echo "There is no Chromium: the shop is not visited."
    pictures=
fi
.build/debug/SampleClient "$url" "$work/client" ${pictures:+"$pictures"}

json=(-H 'Content-Type: application/json')
# Who names an account without proof.
expect 401 "${json[@]}" -d '{"name":"anna"}' "$url/v1/tokens"
expect 401 "${json[@]}" -d '{"name":"anna","password":""}' "$url/v1/tokens"
expect 401 "${json[@]}" -d '{"refreshToken":"refresh.9999999999.anna.AAAA"}' "$url/v1/tokens"
for route in events chat/anna-ben/messages chat/anna-ben/members device-keys; do
    expect 401 "$url/v1/$route"
    expect 401 -H 'Authorization: anna' "$url/v1/$route"
    expect 401 -H 'Authorization: Bearer access.9999999999.anna.AAAA' "$url/v1/$route"
done
expect 401 "${json[@]}" -d '{}' "$url/v1/log"
expect 401 -X DELETE "$url/v1/log"
expect 401 "${json[@]}" -d '{"rental":7}' "$url/v1/viewings"
expect 401 "${json[@]}" -d '{}' "$url/v1/device-keys/challenge"
expect 401 -X PUT --data-binary x "$url/v1/rentals/7/film"
expect 401 -X PUT --data-binary x -H 'Upload-Complete: ?0' -H 'Upload-Draft-Interop-Version: 8' "$url/v1/rentals/7/film"
head -c 5000 /dev/zero | tr '\0' ' ' >"$work/long"
expect 413 "${json[@]}" --data-binary "@$work/long" "$url/v1/tokens"
expect 413 "${json[@]}" -H 'Transfer-Encoding: chunked' -d '{"name":"anna","password":"secret"}' "$url/v1/tokens"
# Who has one account, and wants what is another's.
eve=(-H "Authorization: Bearer $(token eve third)")
expect 200 "${eve[@]}" "$url/v1/chat/anna-eve/messages"
expect 404 "${eve[@]}" "$url/v1/chat/anna-ben/messages"
expect 404 "${eve[@]}" "${json[@]}" -d '{}' "$url/v1/chat/anna-ben/messages"
expect 403 "${eve[@]}" "$url/v1/events?topics=chat/anna-ben"
expect 403 "${eve[@]}" "$url/v1/events?topics=viewings/anna"
# A web page of others, and a name that is not the server's.
expect 403 -H 'Origin: https://evil.example' "$url/v1/rentals"
expect 403 -H 'Host: evil.example' "$url/v1/rentals"
# Files of the shop that are not pages.
for file in load.md ..%2fREADME.md shop%2eHTML .html 'shop.js%00'; do expect 404 "$url/shop/$file"; done
expect 401 "$url/v1/orders"
expect 401 -X PUT --data-binary x "$url/v1/orders/7/picture"
expect 404 "${eve[@]}" -X PUT --data-binary x "$url/v1/orders/1/picture"
expect 403 "${eve[@]}" "$url/v1/events?topics=orders/anna"
head -c 1100000 /dev/zero >"$work/large"
expect 413 "${eve[@]}" -X PUT --data-binary "@$work/large" "$url/v1/orders/7/picture"

# A restart keeps what was stored: the token is accepted, and the conversation is there.
anna=(-H "Authorization: Bearer $(token anna secret)")
kill "$server"
wait "$server" || true
serve
expect 200 "${anna[@]}" "$url/v1/chat/anna-ben/messages"
grep -q 'Shall we see it?' "$work/body"

# An account sends four films at a time, whose parts do not outlive a process that is killed.
head -c 1000000 /dev/zero >"$work/film"
film=(-X PUT --data-binary "@$work/film" "$url/v1/rentals/8/film")
parts() { find "$work/data/films/parts" -mindepth 1 -maxdepth 1 | wc -l; }
for _ in 1 2 3 4; do curl -s -o "$work/slow" --limit-rate 1k "${eve[@]}" "${film[@]}" & done
for _ in $(seq 1200); do [ "$(parts)" -lt 4 ] || break; sleep 0.1; done
expect 429 "${eve[@]}" "${film[@]}"
expect 204 "${anna[@]}" "${film[@]}"
[ "$(parts)" = 4 ] || { echo "$(parts) films are received instead of 4"; exit 1; }
kill -KILL "$server"
wait "$server" || true
# Behind a proxy, with a port.
serve api.example.com:8443
[ "$(parts)" = 0 ] || { echo "$(parts) parts outlive their process"; exit 1; }
expect 204 "${eve[@]}" "${film[@]}"
expect 200 -H 'Host: api.example.com:8443' "$url/v1/rentals"
expect 403 -H 'Host: example.com:8443' "$url/v1/rentals"
echo "The sample server, in $lines lines, is as documented."
