#!/usr/bin/env bash
# Changes signed messages at random until 100,000 of them, or as many as the argument says, differ by the judgement of an independent
# oracle, and fails if one of these is accepted, or one that does not differ is refused. Needs a debug build of the tests.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
RUNWAY_MUTATIONS="${1:-100000}" swift test --skip-build --filter 'RunwaySignaturesTests\.MutationTests'
