#!/usr/bin/env bash
# Exchanges repositories with python-tuf, the reference implementation of The Update Framework, over HTTP on the loopback:
# its client updates from a repository of `runway bundle`, and `runway bundle tuf` from a repository that it made.
#
#   Scripts/tuf-peer.sh                          wants a built `runway`, or one in RUNWAY, and Python 3 with venv
#   TUF_VENV=/tmp/venv Scripts/tuf-peer.sh       in a Python environment that stays, for a faster next start
#   TUF_VENV=/tmp/venv Scripts/tuf-peer.sh install   only installs there
#   Scripts/tuf-peer.sh mutations                100,000 mutations of signed metadata; wants swift build --build-tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ "${1:-}" = mutations ]; then
    RUNWAY_TUF_MUTATIONS=100000 exec swift test --skip-build --filter RunwayTUFTests.MutationTests
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=${TUF_VENV:-$work/venv}
if ! "$venv/bin/python" -c 'import tuf, cryptography' 2>/dev/null; then
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check tuf==7.0.1 securesystemslib==1.6.0 cryptography
fi
[ "${1:-}" = install ] && exit

"$venv/bin/python" Scripts/peers/tuf_peer.py "${RUNWAY:-.build/debug/runway}" "$work"
