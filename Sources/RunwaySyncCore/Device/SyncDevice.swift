/// The device's half for one space: seals writes, pulls the log, shows it, and pushes. It reads no clock, random source
/// or database of its own: the caller passes the time, random numbers and the store.
///
/// Its own state describes only the exchange in flight, and is lost when the process ends. All other state is in the
/// store. Each event is handled inside one transaction of the store, and the shell performs the effects after the
/// commit.
package struct SyncDevice: Sendable {
    let policies: ConflictPolicies
    /// The largest number of transactions in a packet.
    package var packetLimit = Packet.maximumTransactions
    /// The version of the app's tables (rule 15).
    package var schema: Int64 = 1
    /// The directions in which the space is synchronised. The default is both.
    package var direction = Direction.both
    private var phase = Phase.idle
    /// The number of the last request.
    private var exchange: Int64 = 0
    /// The newest head of the log that was reported since the last pull.
    private var head: Int64 = 0
    /// The device id and the transactions of the last packet.
    private var pushed: (device: Identifier, transactions: [Identifier])?
    /// The number of times that the server rejected the packet that waits for its verdicts.
    private var rejections = 0

    /// A cycle pulls up to the head at its start, and then pushes (rule 10).
    private enum Phase {
        case idle
        /// The target is unknown until the first page arrives.
        case pulling(to: Int64?)
        case pushing
    }

    package enum Event: Sendable {
        /// The timer fired, or the app came to the foreground (rule 20).
        case prompted
        /// The app wrote. Pulls only if the log is known to be longer, or not known yet (rule 10).
        case wrote
        /// The log has grown to this number.
        case poked(head: Int64)
        /// The response to a request arrived.
        case received(SyncResponse, exchange: Int64)
        /// No response to a request will arrive.
        case lost(exchange: Int64)
        /// The file belongs to another device, or was copied from one (rule 12).
        case wasCopied
        /// The device may see the space again (rule 13).
        case readmitted
        /// The user withdrew a transaction that waits for its verdict (rule 19).
        case withdrew(Identifier)
        /// The user sends a failed transaction again (rule 19).
        case sentAgain(Identifier)
        /// The user decided on the transactions that were offered (rule 12).
        case decidedOffers(accepts: Bool)
        /// The rows differ from those of the server, and all of them are read again (rule 15).
        case reread
    }

    package enum Effect: Hashable, Sendable {
        case send(SyncRequest, exchange: Int64)
        /// A transaction was refused. The app shows this until its user has seen it.
        case refused(Transaction, Refusal)
        /// Transactions are sent only if the user wants it: ``Event/decidedOffers(accepts:)`` (rule 12).
        case offered([Transaction])
        /// The server asks for a pause. The shell passes no event until the pause has ended, and measures it by a
        /// monotonic clock.
        case pause(milliseconds: Int64)
        /// The rows of the device differ from those of the server at the same entry, by a mistake of one of them
        /// (rule 15).
        case differs
        /// A row moved to another space (rule 13).
        case moved(RowKey, to: Identifier)
        /// The app is too old for the space, and has to be updated. Its writes wait (rule 15).
        case upgrade
        /// A transaction is in the log, and conflicts with a change that this device had not seen (rule 7).
        case met(Transaction)
    }

    package init(_ policies: ConflictPolicies) { self.policies = policies }

    /// Handles an event.
    ///
    /// - Parameters:
    ///   - now: The time since 1970 in milliseconds, by the device's clock.
    package mutating func handle(
        _ event: Event, at now: Int64, in store: inout some DeviceStore, using random: inout some RandomNumberGenerator
    ) throws -> [Effect] {
        switch event {
        case .received(_, exchange), .withdrew, .wasCopied, .readmitted, .sentAgain, .decidedOffers:
            // These events show rows again, which must not overwrite a captured write of the app (rule 1).
            try seal(at: now, in: &store, using: &random)
        case .prompted, .wrote, .poked, .lost(exchange), .reread: break
        case .received, .lost: return []
        }
        var effects: [Effect] = []
        switch event {
        case .prompted: if case .idle = phase { phase = .pulling(to: nil) } else { return [] }
        case .wrote:
            guard case .idle = phase else { return [] }
            let state = try store.state
            let isAtHead = head > 0 && state.cursor.number >= head && state.snapshot == nil
            phase = isAtHead ? .pushing : .pulling(to: nil)
        case .poked where isOneWay: return []
        case .poked(let number):
            head = max(head, number)
            guard case .idle = phase, try store.state.cursor.number < head else { return [] }
            phase = .pulling(to: head)
        case .received(let response, _): effects = try receive(response, at: now, in: &store, using: &random)
        case .lost: phase = .idle
        case .withdrew(let transaction):
            try withdraw(transaction, because: .void, in: &store)
            if case .idle = phase { phase = .pushing } else { return [] }
        case .sentAgain(let transaction):
            try sendAgain(transaction, at: now, in: &store, using: &random)
            if case .idle = phase { phase = .pushing } else { return [] }
        case .decidedOffers(let accepts):
            effects = try decideOffers(accepts: accepts, at: now, in: &store)
            if case .idle = phase { phase = .pushing } else { return effects }
        case .wasCopied:
            effects = try renumber(in: &store, using: &random)
            // A response to a request under the former id is ignored.
            exchange += 1
            phase = .pulling(to: nil)
        case .reread:
            guard case .idle = phase, !isOneWay, try store.state.snapshot == nil else { return [] }
            try beginSnapshot(in: &store)
            phase = .pulling(to: nil)
        case .readmitted:
            effects = try readmit(in: &store, using: &random)
            phase = .pulling(to: nil)
        }
        return try effects + next(at: now, in: &store, using: &random)
    }

    private mutating func receive(
        _ response: SyncResponse, at now: Int64, in store: inout some DeviceStore,
        using random: inout some RandomNumberGenerator
    ) throws -> [Effect] {
        // The response may have rows from before a revocation that another process with this file has seen (rule 13).
        if try store.state.isRevoked { return [] }
        var effects: [Effect] = []
        let isPushing = if case .pushing = phase { true } else { false }
        guard response.fits(push: isPushing) else {
            phase = .idle
            return []
        }
        // Another process with this file has recorded the verdicts. Sends what waits now.
        if response.isOnPacket, try !isNext(pushed, in: store) { return [] }
        switch response {
        case .page(let page) where try isLost(page.end, in: store): effects = try renumber(in: &store, using: &random)
        case .snapshot(let page) where try isLost(page.end, in: store):
            effects = try renumber(in: &store, using: &random)
        case .page(let page):
            // A head that was only reported may belong to another history.
            if case .pulling(let target) = phase { phase = .pulling(to: min(target ?? page.head, page.head)) }
            head = max(head, page.head)
            switch try apply(page, at: now, in: &store, using: &random, &effects) {
            case .applied: try prune(through: page.backup, in: &store)
            case .stalled: phase = .idle
            case .beginAgain: try beginSnapshot(in: &store)
            case .forked: effects += try renumber(in: &store, using: &random)
            }
        case .snapshot(let page): effects = try stage(page, in: &store, using: &random)
        case .verdicts(let verdicts, let head):
            rejections = 0
            self.head = max(self.head, head)
            effects = try record(verdicts, at: now, in: &store, using: &random)
        case .gap, .forked, .deviceTaken: effects = try renumber(in: &store, using: &random)
        case .horizon, .history: try beginSnapshot(in: &store)
        case .revoked(let decisions): effects = try evict(decisions, in: &store)
        case .tooLarge: try divide(by: 2, because: .tooLarge, in: &store)
        case .invalid:
            rejections += 1
            if rejections < Self.maximumRejections { break }
            rejections = 0
            try divide(by: .max, because: .unreadable, in: &store)
        case .upgrade:
            effects = [.upgrade]
            phase = .idle
        case .tooManyDevices:
            effects = [.pause(milliseconds: Self.longestPause)]
            phase = .idle
        case .wait(let milliseconds):
            effects = [.pause(milliseconds: min(max(milliseconds, 0), Self.longestPause))]
            phase = .idle
        }
        switch response {
        case .gap, .forked, .deviceTaken: phase = .pulling(to: nil)
        default: break
        }
        return effects
    }

    /// Whether a server whose history matches the cursor has lost operations that it acknowledged later (rule 12).
    private func isLost(_ end: ChainEnd, in store: some DeviceStore) throws -> Bool {
        let acknowledged = try store.state.acknowledged
        return end.number < acknowledged.number || end.number == acknowledged.number && end != acknowledged
    }

    /// The number of rejections after which the transactions of a packet are sent one by one (rule 3).
    private static let maximumRejections = 3
    /// The longest pause that a server may ask for: an hour, in milliseconds.
    private static let longestPause: Int64 = 3_600_000

    /// Sends the next request of the cycle, or ends the cycle.
    private mutating func next(
        at now: Int64, in store: inout some DeviceStore, using random: inout some RandomNumberGenerator
    ) throws -> [Effect] {
        let state = try store.state
        if state.isRevoked { phase = .idle }
        switch phase {
        case .idle: return []
        case .pulling(let target):
            if !isOneWay, state.snapshot != nil || target.map({ state.cursor.number < $0 }) ?? true {
                return [try pull(from: store)]
            }
            phase = .pushing
            fallthrough
        case .pushing:
            try seal(at: now, in: &store, using: &random)
            try expire(at: now, in: &store)
            try withdrawTooLarge(in: &store)
            if let packet = try nextPacket(in: store) {
                try noteSent(in: &store)
                pushed = (packet.device, packet.transactions.map(\.id))
                return [send(.push(packet))]
            }
            // The log entries of the device's own transactions arrive by a pull, too.
            phase = state.cursor.number < head && !isOneWay ? .pulling(to: head) : .idle
            return if case .pulling = phase { [try pull(from: store)] } else { [] }
        }
    }

    private mutating func pull(from store: some DeviceStore) throws -> Effect {
        head = 0
        return send(try nextPull(in: store))
    }

    private mutating func send(_ request: SyncRequest) -> Effect {
        exchange += 1
        return .send(request, exchange: exchange)
    }
}
