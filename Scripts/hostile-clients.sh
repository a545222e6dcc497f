#!/usr/bin/env bash
# Attacks `runway serve` and a documented server as one hostile client, and prints what that cost the others: an attack
# is a program of Scripts/hostile, which fails if one of its claims does not hold. Needs a debug build, and root or user
# namespaces for the small disk.
#
#   Scripts/hostile-clients.sh                       every attack
#   Scripts/hostile-clients.sh log_disk log_values   these
#   RUNWAY=/path/to/runway Scripts/hostile-clients.sh   another build of the command
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if [ -z "${HOSTILE_DISK:-}" ]; then
    HOSTILE_DISK=$(mktemp -d)
    export HOSTILE_DISK
    trap 'rm -rf "$HOSTILE_DISK"' EXIT
    namespace=(unshare --mount)
    [ "$(id -u)" -eq 0 ] || namespace+=(--map-root-user)
    "${namespace[@]}" bash -euc 'mount -t tmpfs -o size=24m tmpfs "$HOSTILE_DISK"; "$@"' bash "$0" "$@"
    exit
fi

attacks=("$@")
if [ $# -eq 0 ]; then
    for file in Scripts/hostile/*.py; do
        name=$(basename "$file" .py)
        [ "$name" = servers ] || attacks+=("$name")
    done
fi
failed=0
for attack in "${attacks[@]}"; do
    python3 -B "Scripts/hostile/$attack.py" || failed=1
done
exit "$failed"
