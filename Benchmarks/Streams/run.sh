#!/usr/bin/env bash
# What event streams cost. Needs Linux and openssl.
#
#   ./run.sh [PART]...    all parts, or some of:
#       latency     the time from the publishing of an event by EventHub, in memory and in SQLite, until EventStream receives it over HTTP/2
#                   and TLS, beside a bare TCP round trip between the same two processes: p50 and p99
#       chromium    the same with PyPI's aiohttp-sse as another server and Chromium's EventSource as another client, each with each.
#                   Needs chromium, and Python with venv and the network (Debian: apt-get install -y chromium python3-venv)
#       idle        the processor's time of an idle stream in an hour, on the server and on the client
#
# EVENTS is how many events each way is measured with, 5,000 by default, in ROUNDS rounds, 10 by default. STREAMS is how many streams are
# idle, 1,000 by default, and IDLE_TIME for how many seconds, 75 by default. SCRATCH names the folder of the build.
set -euo pipefail
cd "$(dirname "$0")"

scratch=${SCRATCH:-.build-release}
parts=("$@")
[ $# -gt 0 ] || parts=(latency chromium idle)
missing() {
    echo "run.sh: needs $1" >&2
    exit 1
}
command -v openssl >/dev/null || missing "openssl (Debian: apt-get install -y openssl)"
for part in "${parts[@]}"; do
    case $part in
        latency | idle) ;;
        chromium)
            command -v chromium >/dev/null || missing "chromium (Debian: apt-get install -y chromium)"
            python3 -c 'import ensurepip' 2>/dev/null || missing "Python's venv (Debian: apt-get install -y python3-venv)"
            ;;
        *) missing "a part of latency, chromium and idle, not $part" ;;
    esac
done

SWIFT_DETERMINISTIC_HASHING=1 swift build -c release --scratch-path "$scratch"
scratch=$(realpath "$scratch")
program=$scratch/release/StreamsBenchmark

# On the drive of the build, where SQLite has a real one to wait for.
work=$(mktemp -d "$scratch/measured.XXXXXX")
trap 'rm -rf "$work"' EXIT
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=benchmark-root \
    -keyout "$work/root.key" -out "$work/root.pem" 2>/dev/null
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost \
    -keyout "$work/server.key" -out "$work/server.csr" 2>/dev/null
openssl x509 -req -in "$work/server.csr" -CA "$work/root.pem" -CAkey "$work/root.key" -CAcreateserial -days 2 \
    -extfile <(printf 'subjectAltName=IP:127.0.0.1') -out "$work/server.pem" 2>/dev/null

# Sets `python`, an interpreter that has the server and the browser's driver.
use_python() {
    if [ ! -e "$scratch/venv/installed" ]; then
        python3 -m venv --clear "$scratch/venv"
        # The browser is the system's; none is fetched.
        PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check \
            'aiohttp>=3.10' 'aiohttp-sse>=2.2' 'playwright>=1.49'
        touch "$scratch/venv/installed"
    fi
    python=$scratch/venv/bin/python
}

events=(--events "${EVENTS:-5000}" --rounds "${ROUNDS:-10}")
for part in "${parts[@]}"; do
    echo "$part"
    case $part in
        latency) "$program" latency "$work" "${events[@]}" ;;
        chromium)
            use_python
            "$program" latency "$work" "${events[@]}" --python "$python" --chromium "$(command -v chromium)"
            ;;
        idle) "$program" idle "$work" --streams "${STREAMS:-1000}" --seconds "${IDLE_TIME:-75}" ;;
    esac
done
