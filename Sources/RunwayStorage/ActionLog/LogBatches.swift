import Foundation

/// Decides which scope of a log has a batch to send, and how many records it has. Pure.
///
/// A batch is sent when enough records wait, when the app asks, when the interval has passed since the oldest was
/// recorded, at launch if any records wait, when a network comes back, and when an account signs in. If the cause is
/// that enough records wait, the rest waits for the next cause; for every other cause, and after a failure, batches
/// follow until all records are sent that waited at that moment. Records that arrive meanwhile wait for a cause of
/// their own.
struct LogBatches: SendPolicy {
    /// The records and erasures that may be sent now, as read from the file.
    struct Reading: Sendable {
        /// The numbers by scope: the records without an account, the records of the account that is signed in, and the
        /// erasures that the server is asked for.
        var counts: [String: Int]
        /// The number of records of each scope, and of erasures, that the server has accepted or refused in this run,
        /// without those that wait again after a series of refusals.
        var ended: [String: Int] = [:]
        /// The time that the oldest of these records had waited at ``instant``; zero if the log has no interval, since
        /// only that needs it.
        var age = Duration.zero
        /// The time of the reading, by the layer's clock.
        var instant: Duration
        /// The number of the reading. A later reading knows more.
        var number: Int
    }

    /// The treatment of a batch that was not accepted.
    enum Treatment: Equatable, Sendable {
        /// The batch is sent again.
        case `repeat`
        /// The records of the batch are sent in smaller batches.
        case halve
        /// The only record of the batch is set aside.
        case setAside
    }

    private struct Size: Sendable {
        var limit: Int
        /// The number of single records set aside since the last batch that was accepted.
        var refusals = 0
    }

    /// The number of single records set aside in a row from which the server seems to refuse everything.
    static let refusalLimit = 3

    private let batchSize: Int
    private let interval: Duration?
    private let maximumServerFaults: Int
    private var sizes: [String: Size] = [:]
    private(set) var reading: Reading?
    /// The values of ``Reading/ended`` at which all records are sent that waited at the last cause.
    private var dueEnds: [String: Int] = [:]

    init(_ options: ActionLogOptions) {
        batchSize = max(1, options.batchSize)
        interval = options.interval
        maximumServerFaults = max(1, options.maximumServerFaults)
    }

    /// The scopes in which records wait that may be sent now.
    var scopes: [String] { (reading?.counts ?? [:]).keys.sorted() }

    /// Notes the numbers of waiting records, unless a newer reading overtook this one: an account may have signed in
    /// between both.
    ///
    /// - Parameter isUrgent: Whether all waiting records are to be sent. The default is `false`.
    mutating func note(_ reading: Reading, isUrgent: Bool = false) {
        if reading.number > self.reading?.number ?? .min {
            self.reading = reading
            self.reading?.counts = reading.counts.filter { $0.value > 0 }
            dueEnds = dueEnds.filter { reading.counts[$0.key] ?? 0 > 0 }
            // Accounts that have left are forgotten.
            if sizes.count > SendPace.maximumLaneCount { sizes = sizes.filter { reading.counts[$0.key] ?? 0 > 0 } }
        }
        if isUrgent { makeAllDue() }
    }

    private mutating func makeAllDue() {
        guard let reading else { return }
        for (scope, count) in reading.counts { dueEnds[scope] = reading.ended[scope, default: 0] + count }
    }

    mutating func note(_ event: SendEvent) {
        switch event {
        case .ended(let scope, .settled):
            let limit = size(scope).limit
            sizes[scope] = Size(limit: limit > batchSize / 2 ? batchSize : limit * 2)
        case .ended, .prompted, .networkReturned: makeAllDue()
        case .flushing: break
        }
    }

    /// Returns an empty name for each scope: all records are sent to one server.
    func server(of scope: String) -> String { "" }

    func start(of scope: String, from earliest: Duration, isSuspected: Bool, at now: Duration) -> Duration? {
        guard let reading else { return nil }
        let isDue = dueEnds[scope, default: 0] > reading.ended[scope, default: 0]
        // If a record is suspected, records after it are accepted before it, and are counted in its place.
        if isDue || isSuspected || reading.counts.values.reduce(0, +) >= batchSize { return earliest }
        return interval.map { max(earliest, reading.instant - reading.age + $0) }
    }

    /// Returns the most records of the next batch of a scope.
    func limit(_ scope: String) -> Int { size(scope).limit }

    /// Whether the server has refused, or failed on, one record of a scope after the other: it may be refusing
    /// everything.
    var isRefusingAll: Bool { sizes.values.contains { $0.refusals >= Self.refusalLimit } }

    /// Returns the number of single records of a scope that were set aside since its last batch that was accepted.
    func refusals(of scope: String) -> Int { size(scope).refusals }

    /// Restores the numbers of records that earlier runs have set aside since a batch was accepted.
    mutating func restoreRefusals(_ refusals: [String: Int]) {
        for (scope, count) in refusals {
            sizes[scope, default: Size(limit: batchSize)].refusals = max(count, self.refusals(of: scope))
        }
    }

    /// Decides about a batch that the server refused, or on which it failed.
    ///
    /// - Parameter faults: The number of times that the server failed on the batch by a fault of its own, which may be
    ///   over at the next attempt; `nil` if the server refused the batch. After a fault a batch is repeated, as often
    ///   as the options allow, before it is halved. The halves are halved at once, down to single records.
    func treatment(_ scope: String, count: Int, faults: Int?) -> Treatment {
        if let faults, faults < (isHalf(scope, count) ? 1 : maximumServerFaults) { return .repeat }
        return count > 1 ? .halve : .setAside
    }

    /// Returns whether a batch has records of a larger one that was halved. Halving removes nothing, so that it does no
    /// harm if the server is down.
    func isHalf(_ scope: String, _ count: Int) -> Bool { count > 1 && size(scope).limit < batchSize }

    /// Records the end of a batch whose records are sent in smaller ones, or whose only record was set aside.
    ///
    /// - Parameter isFault: Whether the server did not refuse the batch, but failed on it again and again.
    /// - Returns: The outcome of the attempt.
    mutating func refuse(_ scope: String, count: Int, isFault: Bool) -> SendOutcome {
        var size = size(scope)
        defer { sizes[scope] = size }
        if count > 1 {
            size.limit = max(1, min(size.limit, count) / 2)
            return isFault ? .failed() : .refused(inRow: 0)
        }
        size.refusals += 1
        return .refused(inRow: size.refusals)
    }

    private func size(_ scope: String) -> Size { sizes[scope] ?? Size(limit: batchSize) }
}
