#!/usr/bin/env bash
# What a device pays for its bundles: a check with nothing new beside python-tuf's, the installation of 1,000 files of 20 MB beside `cp -r` and
# python-tuf, and the requests for one changed file of 1,000. The server is a process of its own. Exits with 1 if a target is missed.
#
# Needs Python 3 with venv, and the command `runway`, by default that of a debug build; RUNWAY names another one. SCRATCH names the folder of
# the build, BENCHMARK a program that is built already, PYTHON one that has python-tuf.
set -euo pipefail
cd "$(dirname "$0")"
runway=$(realpath "${RUNWAY:-../../.build/debug/runway}")
scratch=${SCRATCH:-.build-release}
if [ -z "${BENCHMARK:-}" ]; then
    SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path "$scratch"
    BENCHMARK=$scratch/release/BundlesBenchmark
fi
work=$(mktemp -d)
server=
trap 'kill "$server" 2>/dev/null || true; rm -rf "$work"' EXIT
if [ -z "${PYTHON:-}" ]; then
    python3 -m venv "$work/venv"
    PYTHON=$work/venv/bin/python
    "$PYTHON" -m pip install --quiet --disable-pip-version-check tuf==7.0.1 securesystemslib==1.6.0 cryptography
fi

mkdir "$work/dist"
python3 - "$work/dist" <<'PYTHON'
import os, random, sys
random.seed(1)
for number in range(1000):
    folder = os.path.join(sys.argv[1], f"folder-{number % 20}")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"file-{number}.bin"), "wb") as file:
        file.write(random.randbytes(20_000))
PYTHON
repository=(--repository "$work/site" --keys "$work/keys")
"$runway" bundle init "${repository[@]}" 2>/dev/null
"$runway" bundle publish "${repository[@]}" --version 1 "$work/dist" 2>/dev/null
cp "$work/site/metadata/1.root.json" "$work/root.json"
echo "0 0" >"$work/count"
python3 site.py "$work/site" "$work/count" >"$work/url" &
server=$!
until [ -s "$work/url" ]; do sleep 0.05; done
url=$(cat "$work/url")

code=0
"$BENCHMARK" install "$url" "$work" || code=1
echo "python-tuf downloads and verifies them in $("$PYTHON" peer.py install "$url" "$work/peer" "$work/root.json") ms, without flushing"
head -c 20000 /dev/urandom >"$work/dist/folder-7/file-7.bin"
"$runway" bundle publish "${repository[@]}" --version 2 "$work/dist" 2>/dev/null
"$BENCHMARK" update "$url" "$work" || code=1
peer=$("$PYTHON" peer.py refresh "$url" "$work/peer" "$work/root.json")
"$BENCHMARK" refresh "$url" "$work" "$peer" || code=1
exit "$code"
