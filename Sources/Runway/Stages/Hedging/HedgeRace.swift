/// Decides between the two attempts of a hedged request. Pure: it does nothing itself, and reads no clock.
struct HedgeRace {
    /// How an attempt ended.
    enum Ending: Equatable {
        /// With an answer that is worth no other attempt.
        case good
        /// With an answer that is.
        case poor
        /// Without an answer.
        case failed
    }

    enum Action: Equatable {
        /// This attempt has won; what it ends with is the request's answer.
        case win(Hedge.Contender)
        /// End this attempt: nobody wants its answer.
        case callOff(Hedge.Contender)
        /// The request ends as this attempt did. Nothing follows.
        case settle(Hedge.Contender)
    }

    /// Whether a second attempt was started.
    private(set) var hasSecond = false
    /// Who was answered well first.
    private(set) var winner: Hedge.Contender?
    /// Whether the request is settled, or nobody waits for it any more.
    private(set) var isOver = false
    private var endings: [Hedge.Contender: Ending] = [:]

    /// Whether a second attempt is of use.
    var mayStartSecond: Bool { !isOver && !hasSecond && winner == nil && endings.isEmpty }

    /// A second attempt starts, if it is of use.
    mutating func startSecond() -> Bool {
        guard mayStartSecond else { return false }
        hasSecond = true
        return true
    }

    /// The head of an attempt's answer came.
    mutating func headCame(to contender: Hedge.Contender, isGood: Bool) -> [Action] {
        guard isGood, winner == nil, isFlying(contender) else { return [] }
        return win(contender)
    }

    /// An attempt ended.
    mutating func ended(_ contender: Hedge.Contender, as ending: Ending) -> [Action] {
        guard isFlying(contender) else { return [] }
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
        // A failure is none as long as the other attempt may succeed.
        guard !isFlying(contender.other) else { return [] }
        isOver = true
        // An answer says more than none.
        return [.settle(endings[.first] == .failed && endings[.second] == .poor ? .second : .first)]
    }

    /// Nobody waits any more.
    mutating func abandon() -> [Action] {
        let flying = Hedge.Contender.allCases.filter { isFlying($0) && (winner == nil || winner == $0) }
        isOver = true
        return flying.map { .callOff($0) }
    }

    private mutating func win(_ contender: Hedge.Contender) -> [Action] {
        winner = contender
        return [.win(contender)] + (isFlying(contender.other) ? [.callOff(contender.other)] : [])
    }

    private func isFlying(_ contender: Hedge.Contender) -> Bool {
        !isOver && (contender == .first || hasSecond) && endings[contender] == nil
    }
}
