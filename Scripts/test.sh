#!/usr/bin/env bash
# Passes the tests: installs what they need, builds, starts nginx and httpbin on the loopback, runs every suite, stops both.
#
# Arguments are handed to "swift test", such as --filter RunwayTests. With RUNWAY_SKIP_INTEGRATION set to anything the
# servers are left out, and so are the tests that need them.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
command -v curl >/dev/null || missing+=(curl)
command -v openssl >/dev/null || missing+=(openssl)
[ -e /usr/include/zlib.h ] || missing+=(zlib1g-dev)
[ -e /usr/include/sqlite3.h ] || missing+=(libsqlite3-dev)
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" -eq 0 ] || { echo "test.sh: run as root once, or install these first: ${missing[*]}" >&2; exit 1; }
    echo "test.sh: installing ${missing[*]}" >&2
    apt-get update -qq
    apt-get install -y -qq "${missing[@]}" >/dev/null
fi

SWIFT_DETERMINISTIC_HASHING=1 swift build --build-tests

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if [ -z "${RUNWAY_SKIP_INTEGRATION:-}" ]; then
    servers=$(mktemp -d)
    trap 'Scripts/integration-servers.sh stop "$servers"; rm -rf "$servers" "$log"' EXIT
    Scripts/integration-servers.sh start "$servers"
    # shellcheck source=/dev/null
    . "$servers/environment"
    export RUNWAY_REQUIRE_INTEGRATION=1
fi

# Many tests wait for something to happen within some time, and hundreds at once would leave each other no processor.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8
# The backtrace of a crash shows only the thread that crashed.
export SWIFT_BACKTRACE="${SWIFT_BACKTRACE:-threads=crashed}"
# Prints failures again at the end: they may be a thousand lines above the last.
#
# A failed assertion of AsyncHTTPClient, which only tests use, as the peer, ends the process with all tests in it, and says nothing about
# Runway. Those tests are run again, once.
run() {
    local code=0
    swift test --skip-build "$@" 2>&1 | tee "$log" || code=$?
    if [ "$code" -ne 0 ] && grep -qE 'AsyncHTTPClient/[^ ]*: Fatal error' "$log"; then
        printf '\ntest.sh: AsyncHTTPClient crashed; its process is run again:\n' >&2
        grep -E -A40 'AsyncHTTPClient/[^ ]*: Fatal error' "$log" >&2
        code=0
        swift test --skip-build "$@" 2>&1 | tee "$log" || code=$?
    fi
    [ "$code" -eq 0 ] || {
        printf '\nWhat failed:\n' >&2
        grep -E -A3 '^✘ .* (recorded an issue|failed after)|error: |Fatal error' "$log" | grep -vE '^(◇|✔|--)' >&2 || true
        exit "$code"
    }
}
if [ $# -gt 0 ]; then
    run "$@"
    exit
fi
# What waits for sockets and what waits for other events runs apart from what computes, which would leave it no thread for seconds.
sockets='^Runway(Transport|TestServer|Server|Signing|Demo|Command)Tests\.'
computing='^(RunwayJSON|RunwaySignatures|Tidy)Tests\.'
run --filter "$sockets"
# As many at a time as there are processors: a test among them that waits would find all threads taken for a minute.
SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=2 run --filter "$computing"
run --skip "$sockets" --skip "$computing"
# Once more with a custom stage that changes nothing at every place of the pipeline: everything is still as the tests claim. Left out are
# the tests of code without a pipeline (JSON, signatures, house rules) and those of servers, the test server, the command and the demo, whose
# layers have the default stages; of storage also the tests of Journal, which has no pipeline, and those that kill processes or damage files,
# for which a stage makes no difference.
RUNWAY_TESTS_PASS_THROUGH=1 run --filter '^Runway(Streams|Chat|Storage)?Tests\.' --skip 'StorageTests\.(Journal|.*(Kill|Damage|Crash))'
# And so are signatures, redirects, cookies, TLS alone, compressed bodies, caching by HTTP, transfers and effects over connections. The other
# suites of the transport are left out: they test connections and frames, which no stage sees.
wire='Redirect|CookieCall|Securing|Compressing|HTTPCacheWire|Cancellation|WholeDeadline|EffectChain|Download|Upload|ResumableUpload|TransferManager'
RUNWAY_TESTS_PASS_THROUGH=1 run --filter "^Runway(SigningTests\.|TransportTests\.(${wire})Tests/)"
