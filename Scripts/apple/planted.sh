#!/usr/bin/env bash
# Plants mistakes of different kinds in copies of the sources, and fails unless Scripts/apple.sh reports each of them.
#
# The mistakes of one group are planted together: those that the type checker finds, those that only region isolation finds, and those
# that only the program over the fakes finds, and one in each of what only the whole check compiles. Called by Scripts/apple.sh planted.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
code=0
expected=()

# Starts a group with the sources as they are.
group() {
    rm -rf "$copy"/{Sources,Tests,Samples}
    cp -R Sources Tests Samples "$copy"
    expected=()
}

# plant FILE SED REPORT: changes a file below Sources, or below this folder; REPORT is a regular expression of the lines that report it.
plant() {
    local file=$copy/Sources/$1
    [ -e "$file" ] || file=$copy/$1
    cp "$file" "$copy/before"
    sed -i -E "$2" "$file"
    cmp -s "$file" "$copy/before" && { echo "planted: nothing to change in $1: $2" >&2; exit 1; }
    expected+=("$3")
}

# Checks the planted sources and compares the reports with what was expected: report [WHAT].
report() {
    RUNWAY_SOURCES=$copy Scripts/apple.sh "${1:-run}" >"$copy/log" 2>&1 && { echo "planted: nothing was reported of ${expected[*]}" >&2; code=1; }
    for line in "${expected[@]}"; do
        if grep -qE "$line" "$copy/log"; then echo "found: $line"; else
            echo "planted: not found: $line" >&2
            code=1
        fi
    done
}

group
# A delegate method that no session calls, since its name is another.
plant Runway/URLSession/URLSessionRelay.swift 's/needNewBodyStream completionHandler/needsNewBodyStream completionHandler/' \
    "different argument labels from those required by protocol 'URLSessionTaskDelegate'"
# A module that is not imported.
plant Runway/URLSession/WireRecord+Darwin.swift '/import Security/d' "'TLSv12' is not available due to missing import.*'Security'"
# A member that only Linux has.
plant Runway/Files/OpenFile.swift 's/status\.st_mtimespec/status.st_mtim/' "'stat' has no member 'st_mtim'"
# An integer of another width.
plant Runway/Files/PrivateFile.swift 's/mkdir\(path, 0o700\)/mkdir(path, UInt32(0o700))/' "PrivateFile.swift.*'UInt32' to expected argument type"
# A property that does not exist.
plant Runway/Status/PathNetworkStatus.swift 's/path\.isExpensive/path.isMetered/' "'NWPath' has no member 'isMetered'"
# A constant that does not exist.
plant Runway/Files/KeychainItems.swift 's/kSecMatchLimitOne/kSecMatchLimitFirst/' "cannot find 'kSecMatchLimitFirst'"
# A case that does not exist.
plant Runway/Stages/Reading/SystemMemoryPressure.swift 's/eventMask: \.warning/eventMask: .low/' "has no member 'low'"
# An optional that is not unwrapped.
plant Runway/URLSession/NetworkLayer+Darwin.swift 's/= URLSessionTransport\(\)/= URLSessionTransport?.none/' \
    "NetworkLayer.Darwin.swift.*(optional|unwrapped|URLSessionTransport\?)"
report

group
# A stream that two tasks use at a time.
plant Runway/URLSession/Upload+Darwin.swift 's/^( *)if isStarted \{ return input \}/\1if isStarted {\n\1    Task { input.close() }\n\1    return input\n\1}/' \
    "Upload.Darwin.swift.*sending value of non-Sendable type.*risks causing data races"
report

group
# A suspension after the reader was resumed, who may be faster than it.
plant Runway/URLSession/URLSessionExchange.swift '/^ *task\.suspend\(\)$/d
    /^        case \.streamed:$/,/^        \}$/s/#endif/#endif\n            if byteCount > maximumBufferedByteCount { task.suspend() }/' \
    'streamedResponseArrivesWholeWhateverItsReaderDoes.* failed'
# The credentials of a proxy are refused.
plant Runway/URLSession/URLSessionRelay.swift '/if space\.isProxy\(\)/d' \
    'challengesOfServersAreLeftToStages.* failed'
# A body is sent again that can't be read again.
plant Runway/URLSession/Upload+Darwin.swift 's/state\.pipe == nil \|\| isReplayable/true/' 'bodyThatCannotBeReadAgainIsNotSentAgain.* failed'
# Pins that refuse no chain.
plant Runway/URLSession/PinnedTrust+Darwin.swift 's/outcome == \.refused/outcome == .expired/' 'chainWithoutAPinnedKeyIsRefused.* failed'
# Pins that are compared with a chain that the system did not verify.
plant Runway/URLSession/PinnedTrust+Darwin.swift 's/, SecTrustEvaluateWithError\(trust, nil\)//' 'pinMakesNoUntrustedChainTrusted.* failed'
# A request that no server may receive is sent.
plant Runway/URLSession/URLSessionMessages.swift 's/ \|\| head\.method == \.trace//' 'traceWithABodyIsRefusedUnsent.* failed'
# A downloaded file is moved when the session has removed it.
plant Runway/Transfers/Background/BackgroundRelay.swift \
    's/guard rename\(location\.path, path\) == 0 else .*/queue.addOperation { rename(location.path, path) }/' \
    'downloadEndsInItsFile.* failed'
# A transfer uses networks that it may not.
plant Runway/Transfers/Background/BackgroundTransfers.swift \
    's/allowsConstrainedNetworkAccess = networks\.allowsConstrained/allowsConstrainedNetworkAccess = networks.allowsExpensive/' \
    'transferUsesTheNetworksThatItMay.* failed'
# A background session does not compare its pins.
plant Runway/Transfers/Background/BackgroundTransfers.swift 's/PinnedTrust\(pins: pins, onReport: nil\)/PinnedTrust(pins: [], onReport: nil)/' \
    'serverWithoutAPinnedKeyGetsNoTransfer.* failed'
# An unknown authority is taken for a lost connection.
plant Runway/URLSession/URLSessionErrors.swift '/case \.serverCertificateHasUnknownRoot:/,+1d' \
    'certificateOfAnUnknownAuthorityIsNotTrusted.* failed'
# Every device is said to have a Secure Enclave.
plant RunwaySigning/Enrolment/DeviceKey.swift 's/\{ SecureEnclave\.isAvailable \}/{ true }/' \
    'deviceWithoutAnEnclaveMakesNoKey.* failed'
report

group
# An object that two tasks change, in a target that the program does not run.
plant RunwayStreams/Following/EventStream.swift \
    '$a private final class Unshared { var count = 0 }\nprivate func share() { let unshared = Unshared(); Task { unshared.count += 1 }; unshared.count += 1 }' \
    'EventStream.swift.*risks causing data races'
# A test without an import.
plant Tests/RunwayTestingTests/Clock/ManualClockTests.swift '/^import RunwayTesting$/d' 'ManualClockTests.swift.*error'
# A function that an app's list calls, under another name.
plant Samples/SwiftUI/RentalListView.swift 's/rentals\.loadNextPage\(\)/rentals.loadMore()/' "RentalListView.swift.*has no member 'loadMore'"
# A property that does not exist, in code of iOS alone.
plant Runway/Status/PathNetworkStatus.swift 's/radio\.generation/radio.age/' "has no member 'age'"
report all
exit $code
