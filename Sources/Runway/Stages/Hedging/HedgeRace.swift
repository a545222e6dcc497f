/// Decides between the two attempts of a hedged request. It is a state machine without I/O or a clock.
struct HedgeRace {
    enum Ending: Equatable {
        /// The attempt received a response that another attempt can't improve.
        case good
        /// The attempt received a response that another attempt may improve.
        case poor
        /// The attempt ended without a response.
        case failed
    }

    enum Action: Equatable {
        /// This attempt has won. Its outcome is the outcome of the request.
        case win(HedgeDecision.Contender)
        /// Cancel this attempt: its response is not needed.
        case cancel(HedgeDecision.Contender)
        /// End the request with the outcome of this attempt. No action follows.
        case settle(HedgeDecision.Contender)
    }

    private(set) var hasSecond = false
    /// The attempt that first received a good response.
    private(set) var winner: HedgeDecision.Contender?
    /// Whether the request has ended, or its caller no longer waits.
    private(set) var isOver = false
    private var endings: [HedgeDecision.Contender: Ending] = [:]

    /// Whether a second attempt would be useful.
    var mayStartSecond: Bool { !isOver && !hasSecond && winner == nil && endings.isEmpty }

    /// Records the start of a second attempt. Returns `false` if it would not be useful.
    mutating func startSecond() -> Bool {
        guard mayStartSecond else { return false }
        hasSecond = true
        return true
    }

    /// Records that the status and header fields of an attempt's response were received.
    mutating func headReceived(to contender: HedgeDecision.Contender, isGood: Bool) -> [Action] {
        guard isGood, winner == nil, isInFlight(contender) else { return [] }
        return win(contender)
    }

    mutating func ended(_ contender: HedgeDecision.Contender, as ending: Ending) -> [Action] {
        guard isInFlight(contender) else { return [] }
        endings[contender] = ending
        if let winner {
            guard winner == contender else { return [] }
            isOver = true
            return [.settle(contender)]
        }
        if ending == .good {
            let actions = win(contender)
            isOver = true
            return actions + [.settle(contender)]
        }
        // A failure does not count while the other attempt may still succeed.
        guard !isInFlight(contender.other) else { return [] }
        isOver = true
        // A poor response is more useful to the caller than a failure without a response.
        return [.settle(endings[.first] == .failed && endings[.second] == .poor ? .second : .first)]
    }

    /// Records that the caller no longer waits.
    mutating func abandon() -> [Action] {
        let inFlight = HedgeDecision.Contender.allCases.filter { isInFlight($0) && (winner == nil || winner == $0) }
        isOver = true
        return inFlight.map { .cancel($0) }
    }

    private mutating func win(_ contender: HedgeDecision.Contender) -> [Action] {
        winner = contender
        return [.win(contender)] + (isInFlight(contender.other) ? [.cancel(contender.other)] : [])
    }

    private func isInFlight(_ contender: HedgeDecision.Contender) -> Bool {
        !isOver && (contender == .first || hasSecond) && endings[contender] == nil
    }
}
