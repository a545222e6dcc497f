#!/usr/bin/env bash
# Drives a real browser through `runway proxy`, with nginx and httpbin behind it: installs what is missing (Debian's
# chromium; Playwright, into .build/browser), builds, runs Scripts/browser/browse.py, and ends with its exit code.
#
# The argument `install` has it only install.
#
# Everything listens on the loopback alone. Root is needed only to install Debian packages.
set -euo pipefail
cd "$(dirname "$0")/.."

playwright_version=1.65.2
venv=.build/browser/venv

fail() {
    echo "browser.sh: $*" >&2
    exit 1
}

missing=()
command -v chromium >/dev/null || missing+=(chromium)
python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3-venv)
if [ ${#missing[@]} -gt 0 ]; then
    [ "$(id -u)" -eq 0 ] || fail "run as root once, or install these first: ${missing[*]}"
    echo "browser.sh: installing ${missing[*]}" >&2
    export DEBIAN_FRONTEND=noninteractive
    apt-get -qq update
    apt-get -qq install --no-install-recommends --yes "${missing[@]}" >/dev/null
fi

installed() { "$venv/bin/python" -c 'from importlib.metadata import version; print(version("playwright"))' 2>/dev/null; }
if [ "$(installed)" != "$playwright_version" ]; then
    python3 -m venv --clear "$venv"
    # The browser is Debian's; none is fetched.
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 "$venv/bin/pip" install --quiet --disable-pip-version-check \
        "playwright==$playwright_version"
fi

[ "${1:-}" = install ] && exit

SWIFT_DETERMINISTIC_HASHING=1 swift build --product runway

servers=$(mktemp -d)
trap 'Scripts/integration-servers.sh stop "$servers"; rm -rf "$servers"' EXIT
Scripts/integration-servers.sh start "$servers"
# shellcheck source=/dev/null
. "$servers/environment"
"$venv/bin/python" Scripts/browser/browse.py "$(swift build --show-bin-path)/runway" "$(command -v chromium)"
