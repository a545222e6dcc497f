@testable import Runway

/// What has to hold of calls that are made at once, in whatever order things happened. Only what was certainly earlier counts as earlier.
struct StormCheck {
    private let log: StormLog
    /// The places by which all calls were over that waited for an exchange, for each.
    private let ends: [Int]

    /// What no cache may do, and what this one did all the same.
    private(set) var problems: [String] = []
    /// How many calls certainly could have received a fresh stored response.
    private(set) var freshCallCount = 0

    init(_ log: StormLog) {
        self.log = log
        ends = log.exchanges.map { exchange in
            // A call that a sign-out cancelled may still run for a while.
            if exchange.isBackground || log.calls[exchange.call].failure == .cancelled { return .max }
            let end = log.calls[exchange.call].span.end
            let sharing = log.calls.filter { $0.number == exchange.number && $0.span.begin < end }
            return sharing.map(\.span.end).max() ?? end
        }
        for (id, call) in log.calls.enumerated() {
            if let number = call.number { problems += wrongs(of: number, givenTo: call).map { "\(call) \($0)" } }
            guard needsNoRequest(call, id) else { continue }
            freshCallCount += 1
            if call.number == nil || log.exchanges.contains(where: { $0.call == id }) {
                problems.append("\(call) did not receive the fresh stored response")
            }
        }
    }

    /// The accounts that may have been signed in when a call started.
    private func owners(at call: StormLog.Call) -> Set<String> {
        Set(log.sessions.filter { !$0.span.isBefore(call.span) && !call.span.isBefore($0.span) }.map(\.owner))
    }

    /// The place before which a request was not asked for.
    private func beginning(of exchange: StormLog.Exchange) -> Int { log.calls[exchange.call].span.begin }

    private func wrongs(of number: Int, givenTo call: StormLog.Call) -> [String] {
        guard log.responses.indices.contains(number) else { return ["received an unknown response"] }
        let (variant, version) = (log.responses[number].variant, log.responses[number].version)
        var wrongs: [String] = []
        if !owners(at: call).contains(variant.owner) { wrongs.append("received a response of \(variant.owner)") }
        if variant != StormLog.Variant(shelf: call.shelf, owner: variant.owner, language: call.language) {
            wrongs.append("received a response for \(variant)")
        }
        for change in log.changes where change.shelf == call.shelf && change.span.isBefore(call.span) {
            if version < change.version { wrongs.append("received a response from before a change") }
        }
        let makers = log.exchanges.indices.filter {
            log.exchanges[$0].number == number && log.exchanges[$0].arrival < call.span.end
        }
        for removal in log.removals where removal.span.isBefore(call.span) && removal.concerns(variant.owner) {
            if !makers.contains(where: { log.exchanges[$0].arrival > removal.span.begin }) {
                wrongs.append("received a response from before a clear")
            }
        }
        let lastMade = makers.map { ends[$0] }.max() ?? .max
        for earlier in log.calls where earlier.isFromCache && earlier.span.isBefore(call.span) {
            guard let newer = earlier.number, newer != number, log.responses.indices.contains(newer),
                log.responses[newer].variant == variant
            else { continue }
            let firstMade = log.exchanges.filter { $0.number == newer }.map { beginning(of: $0) }.min() ?? 0
            if lastMade < firstMade { wrongs.append("received \(number) after the newer \(newer) was returned") }
        }
        return wrongs
    }

    /// Whether a response was stored before a call that is still fresh at its end, and that no event can have removed
    /// meanwhile.
    private func needsNoRequest(_ call: StormLog.Call, _ id: Int) -> Bool {
        let owners = owners(at: call)
        guard call.use == .standard, owners.count == 1, let owner = owners.first else { return false }
        let variant = StormLog.Variant(shelf: call.shelf, owner: owner, language: call.language)
        // Another variant counts, too: after it the cache may keep less of the whole target.
        let others = log.exchanges.indices.filter {
            log.exchanges[$0].variant.shelf == call.shelf && log.exchanges[$0].call != id
        }
        return others.contains { index in
            let stored = log.exchanges[index]
            let age = call.end - log.calls[stored.call].beginning
            guard stored.variant == variant, stored.isReusable, ends[index] < call.span.begin,
                age < .seconds(stored.maxAge)
            else { return false }
            let span = StormLog.Span(begin: beginning(of: stored), end: call.span.end)
            let isAlone = others.allSatisfy { other in
                other == index || ends[other] < span.begin || beginning(of: log.exchanges[other]) > span.end
            }
            let isUnchanged = log.changes.allSatisfy { $0.shelf != call.shelf || $0.span.isApart(from: span) }
            return isAlone && isUnchanged && log.removals.allSatisfy { $0.span.isApart(from: span) }
        }
    }
}

extension StormLog.Span {
    fileprivate func isApart(from other: Self) -> Bool { isBefore(other) || other.isBefore(self) }
}

extension StormLog.Removal {
    fileprivate func concerns(_ owner: String) -> Bool { self.owner == nil || self.owner == owner }
}
