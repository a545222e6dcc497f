/// Decides between the two attempts of a hedged request: a state machine without I/O or a clock.
struct HedgeRace {
    /// The end of an attempt.
    enum Ending: Equatable {
        /// A response that another attempt can't improve.
        case good
        /// A response that another attempt may improve.
        case poor
        /// Without a response.
        case failed
    }

    enum Action: Equatable {
        /// This attempt has won; its outcome is the outcome of the request.
        case win(HedgeDecision.Contender)
        /// Cancel this attempt: its response is not needed.
        case cancel(HedgeDecision.Contender)
        /// The request ends as this attempt did. No action follows.
        case settle(HedgeDecision.Contender)
    }

    /// Whether a second attempt was started.
    private(set) var hasSecond = false
    /// The attempt that received a good response first.
    private(set) var winner: HedgeDecision.Contender?
    /// Whether the request has ended, or its caller waits no longer.
    private(set) var isOver = false
    private var endings: [HedgeDecision.Contender: Ending] = [:]

    /// Whether a second attempt would be useful.
    var mayStartSecond: Bool { !isOver && !hasSecond && winner == nil && endings.isEmpty }

    /// Starts a second attempt; returns `false` if it would not be useful.
    mutating func startSecond() -> Bool {
        guard mayStartSecond else { return false }
        hasSecond = true
        return true
    }

    /// Records that the head of an attempt's response was received.
    mutating func headReceived(to contender: HedgeDecision.Contender, isGood: Bool) -> [Action] {
        guard isGood, winner == nil, isInFlight(contender) else { return [] }
        return win(contender)
    }

    /// Records that an attempt ended.
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
        // A failure does not count as long as the other attempt may succeed.
        guard !isInFlight(contender.other) else { return [] }
        isOver = true
        // A poor response is more useful to the caller than a failure without one.
        return [.settle(endings[.first] == .failed && endings[.second] == .poor ? .second : .first)]
    }

    /// Records that the caller waits no longer.
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
