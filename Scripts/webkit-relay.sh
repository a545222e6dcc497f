#!/usr/bin/env bash
# Runs runway.js on real pages in WebKitGTK, the engine of WKWebView, without a screen; see Scripts/webkit-relay.py.
#
#   Scripts/webkit-relay.sh install    installs WebKitGTK, its bindings for Python and a display in memory
#   Scripts/webkit-relay.sh            the checks
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = install ]; then
    dpkg -s gir1.2-webkit2-4.1 python3-gi xvfb >/dev/null 2>&1 && exit
    apt-get update -qq
    apt-get install -y -qq gir1.2-webkit2-4.1 python3-gi xvfb >/dev/null
    exit
fi
# The sandbox of WebKitGTK does not work for the superuser in a container.
export WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS=1 WEBKIT_DISABLE_COMPOSITING_MODE=1 LIBGL_ALWAYS_SOFTWARE=1
# Debian's Python has the bindings, and another one may come first on the path.
exec xvfb-run -a /usr/bin/python3 -u Scripts/webkit-relay.py
