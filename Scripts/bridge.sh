#!/usr/bin/env bash
# Measures the bridge of pages in Chromium against a bare binding of an isolated world, and bytes against base64. Run it
# by hand on an idle machine. Builds with optimisation.
set -euo pipefail
cd "$(dirname "$0")/.."

command -v chromium >/dev/null || { echo "bridge.sh: install Chromium first (Scripts/browser.sh install)" >&2; exit 1; }
RUNWAY_MEASURE_BRIDGE=1 swift test -c release -Xswiftc -enable-testing --filter BridgeMeasurement
