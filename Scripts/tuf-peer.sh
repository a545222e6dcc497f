#!/usr/bin/env bash
# Exchanges repositories with python-tuf, the reference implementation of The Update Framework, over HTTP on the loopback:
# its client updates from a repository of `runway bundle`, and `runway bundle tuf` from a repository that it made.
# Then mutates signed metadata 100,000 times.
#
#   Scripts/tuf-peer.sh             wants a debug build, swift build --build-tests, and Python 3 with venv
#   RUNWAY=… Scripts/tuf-peer.sh    another executable; skips the mutations
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install --quiet --disable-pip-version-check tuf==7.0.1 securesystemslib==1.6.0 cryptography
"$python" Scripts/peers/tuf_peer.py "${RUNWAY:-.build/debug/runway}" "$work"
[ -n "${RUNWAY:-}" ] || RUNWAY_TUF_MUTATIONS=100000 swift test --skip-build --filter RunwayTUFTests.MutationTests
