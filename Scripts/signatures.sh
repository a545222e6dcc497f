#!/usr/bin/env bash
# Signatures both ways with another implementation, http-message-signatures of PyPI, over some thousand generated requests with odd header
# fields, repeated and empty ones, long paths and encoded queries. Needs a build of the tests, and Python with that package.
# Options: SEED, COUNT, and COMMANDS for the requests of `runway sign` and `runway verify`; PYTHON, the interpreter that has the package.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

python=${PYTHON:-python3}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$python" Scripts/peers/signatures.py make "$folder" "${SEED:-1}" "${COUNT:-3000}"
RUNWAY_PEER_FOLDER=$folder swift test --skip-build --filter 'RunwaySignaturesTests\.PeerTests'
"$python" Scripts/peers/signatures.py verify "$folder"
"$python" Scripts/peers/signature_commands.py .build/debug/runway "${SEED:-1}" "${COMMANDS:-100}"
