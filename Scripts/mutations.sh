#!/usr/bin/env bash
# Changes signed requests at random, 100,000 times or as often as the argument says, and has an independent oracle judge which of them
# must not be accepted. Needs a debug build of the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
RUNWAY_MUTATIONS="${1:-100000}" swift test --skip-build --filter 'RunwaySignaturesTests\.MutationTests'
