# Runs commands that need the results of others, as many at a time as the machine has processors. Sourced by Scripts/apple.sh.

jobNames=()
declare -A jobNeeds jobCommands jobStates

# job NAME "NEEDED ..." COMMAND...: adds a job. It starts when the jobs that it needs have succeeded; jobs that were added first come first.
job() {
    jobNames+=("$1")
    jobNeeds[$1]=$2
    jobCommands[$1]=$(printf '%q ' "${@:3}")
}

# Whether a job may start: 0; whether it waits: 1; whether it never starts, since one that it needs has failed: 2.
isReady() {
    local needed
    for needed in ${jobNeeds[$1]}; do
        case ${jobStates[$needed]:-waiting} in
            failed) return 2 ;;
            succeeded) ;;
            *) return 1 ;;
        esac
    done
}

# Runs the jobs. Returns 1 if one of them failed; those that do not need it run all the same.
runJobs() {
    local -A running=()
    local name code=0 state pid most
    most=$(nproc)
    while true; do
        for name in "${jobNames[@]}"; do
            [ -z "${jobStates[$name]:-}" ] || continue
            state=0
            isReady "$name" || state=$?
            if [ "$state" = 2 ]; then
                jobStates[$name]=failed
            elif [ "$state" = 0 ] && [ "${#running[@]}" -lt "$most" ]; then
                # In a process group of its own, which stopJobs ends.
                set -m
                (
                    set +m
                    eval "${jobCommands[$name]}"
                ) &
                set +m
                running[$!]=$name
                jobStates[$name]=running
            fi
        done
        [ "${#running[@]}" -gt 0 ] || break
        state=0
        wait -n -p pid "${!running[@]}" || state=$?
        if [ "$state" = 0 ]; then jobStates[${running[$pid]}]=succeeded; else
            jobStates[${running[$pid]}]=failed
            code=1
        fi
        unset "running[$pid]"
    done
    for name in "${jobNames[@]}"; do
        [ -n "${jobStates[$name]:-}" ] || { echo "apple.sh: $name needs what no job makes: ${jobNeeds[$name]}" >&2; code=1; }
    done
    return $code
}

# Ends the jobs that run, with the programs that they started.
stopJobs() {
    local pid
    # The compiler's driver ends its frontends, which have groups of their own, when it is interrupted, and not when it is terminated.
    for pid in $(jobs -pr); do kill -INT -- "-$pid" 2>/dev/null || true; done
    wait
}
