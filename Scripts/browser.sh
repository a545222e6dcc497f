#!/usr/bin/env bash
# Drives a real browser through `runway proxy`, with nginx and httpbin behind it: installs what is missing (Debian's
# chromium; Playwright, axe and jsonschema, into .build/browser), builds, runs Scripts/browser/browse.py, pages of
# `runway view` by Scripts/browser/accessibility.py, and the schema of its documents by Scripts/browser/schema.py.
# Ends with the exit code of the first that fails.
#
# The argument `install` has it only install.
#
# Everything listens on the loopback alone. Root is needed only to install Debian packages.
set -euo pipefail
cd "$(dirname "$0")/.."

versions="playwright==1.65.2 axe-playwright-python==0.1.8 jsonschema==4.26.0"
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

installed() {
    "$venv/bin/python" -c 'from importlib.metadata import version; import sys
print(*(f"{name}=={version(name)}" for name in sys.argv[1:]))' playwright axe-playwright-python jsonschema 2>/dev/null
}
if [ "$(installed)" != "$versions" ]; then
    python3 -m venv --clear "$venv"
    # The browser is Debian's; none is fetched.
    # shellcheck disable=SC2086
    PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1 "$venv/bin/pip" install --quiet --disable-pip-version-check $versions
fi

[ "${1:-}" = install ] && exit

SWIFT_DETERMINISTIC_HASHING=1 swift build --product runway

servers=$(mktemp -d)
trap 'Scripts/integration-servers.sh stop "$servers"; rm -rf "$servers"' EXIT
Scripts/integration-servers.sh start "$servers"
# shellcheck source=/dev/null
. "$servers/environment"
runway=$(swift build --show-bin-path)/runway
"$venv/bin/python" Scripts/browser/browse.py "$runway" "$(command -v chromium)"
"$venv/bin/python" Scripts/browser/accessibility.py "$runway" "$(command -v chromium)"
"$venv/bin/python" Scripts/browser/schema.py "$runway"
