#!/usr/bin/env bash
# What points and scripts cost: an unpatched point, a call into an interpreter with and without the hop to its thread, 30 rows as JSON text,
# and how late a loop is stopped; beside the bare C functions of JavaScriptCore. Runs twice: with just-in-time compilation, and without it,
# as on iOS. Needs a debug build of the package, for its modules; RunwayScripts is compiled with optimisation. Exits with 1 if a target is
# missed.
set -euo pipefail
exec "$(dirname "$0")/../../Scripts/engines.sh" benchmark
