import Foundation

/// Decides for which scope (an account, no account, or a pending erasure) a batch is sent next, and how many records
/// the batch has. A pure state machine.
///
/// Sending starts for one of these causes: enough records wait, the app asks, the interval has passed since the oldest
/// record, the app launches, a network returns, or an account signs in.
///
/// If enough records wait, only full batches are sent. For every other cause, and after a failure, batches are sent
/// until all records that were waiting at that moment are sent. Records that arrive later wait for the next cause.
struct LogBatches: SendPolicy {
    /// The records and erasures that may be sent now, as read from the file.
    struct Reading: Sendable {
        /// The counts by scope: records without an account, records of the signed-in account, and pending erasures.
        var counts: [String: Int]
        /// The numbers of records and erasures that the server has accepted or refused in this run, by scope (an
        /// account, or a pending erasure). Records that wait again after a series of refusals are subtracted.
        var ended: [String: Int] = [:]
        /// The age of the oldest counted record at ``instant``. Zero if the log has no interval, since only the
        /// interval needs it.
        var age = Duration.zero
        var instant: Duration
        /// The number of the reading. A reading with a greater number is newer.
        var number: Int
    }

    enum Treatment: Equatable, Sendable {
        case `repeat`
        /// The records of the batch are sent in smaller batches.
        case halve
        /// The only record of the batch is set aside.
        case setAside
    }

    private struct Size: Sendable {
        var limit: Int
        /// The number of single records set aside since the last accepted batch.
        var refusals = 0
    }

    /// The number of single records set aside in a row after which the server seems to refuse everything.
    static let refusalLimit = 3

    private let batchSize: Int
    private let interval: Duration?
    private let maximumServerFaults: Int
    private var sizes: [String: Size] = [:]
    private(set) var reading: Reading?
    /// The values that ``Reading/ended`` has to reach until all records are sent that were waiting when sending last
    /// started.
    private var dueEnds: [String: Int] = [:]

    init(_ options: ActionLogOptions) {
        batchSize = max(1, options.batchSize)
        interval = options.interval
        maximumServerFaults = max(1, options.maximumServerFaults)
    }

    /// The scopes (accounts and erasures) with records that may be sent now.
    var scopes: [String] { (reading?.counts ?? [:]).keys.sorted() }

    /// Stores the counts of a reading. Ignores the reading if a newer one is known, which may be of another account.
    ///
    /// - Parameter isUrgent: Whether all waiting records should be sent. The default is `false`.
    mutating func note(_ reading: Reading, isUrgent: Bool = false) {
        if reading.number > self.reading?.number ?? .min {
            self.reading = reading
            self.reading?.counts = reading.counts.filter { $0.value > 0 }
            dueEnds = dueEnds.filter { reading.counts[$0.key] ?? 0 > 0 }
            // Accounts without waiting records are removed.
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

    /// Returns the same name for every account, since all records are sent to one server.
    func server(of scope: String) -> String { "" }

    func start(of scope: String, from earliest: Duration, isSuspected: Bool, at now: Duration) -> Duration? {
        guard let reading else { return nil }
        let isDue = dueEnds[scope, default: 0] > reading.ended[scope, default: 0]
        // While one record is suspected of making the server fail (``SuspectedEntry``), later records are accepted
        // before it, and ``Reading/ended`` counts them in its place. So the suspected record has to be sent even if the
        // counts are reached.
        if isDue || isSuspected || reading.counts.values.reduce(0, +) >= batchSize { return earliest }
        return interval.map { max(earliest, reading.instant - reading.age + $0) }
    }

    /// Returns the maximum number of records in the next batch of an account (the scope).
    func limit(_ scope: String) -> Int { size(scope).limit }

    /// Whether the server has refused several single records of an account in a row, or failed on them, so that it may
    /// be refusing everything.
    var isRefusingAll: Bool { sizes.values.contains { $0.refusals >= Self.refusalLimit } }

    /// Returns how many single records of an account (the scope) were set aside since the server last accepted a batch
    /// of the account.
    func refusals(of scope: String) -> Int { size(scope).refusals }

    /// Restores the counts of records that earlier runs set aside since the last accepted batch.
    mutating func restoreRefusals(_ refusals: [String: Int]) {
        for (scope, count) in refusals {
            sizes[scope, default: Size(limit: batchSize)].refusals = max(count, self.refusals(of: scope))
        }
    }

    /// Returns the next step for a batch that the server refused or failed on.
    ///
    /// - Parameter faults: The number of server faults on this batch; `nil` if the server refused it. A fault may be
    ///   temporary, so the batch is repeated as often as the options allow, and then halved. Its halves are halved at
    ///   once, down to single records.
    func treatment(_ scope: String, count: Int, faults: Int?) -> Treatment {
        if let faults, faults < (isHalf(scope, count) ? 1 : maximumServerFaults) { return .repeat }
        return count > 1 ? .halve : .setAside
    }

    /// Returns whether a batch is part of a larger one that was halved. Halving removes nothing, so it does no harm
    /// while the server is down.
    func isHalf(_ scope: String, _ count: Int) -> Bool { count > 1 && size(scope).limit < batchSize }

    /// Records the end of a batch. Its records are sent in smaller batches, or its only record was set aside.
    ///
    /// - Parameter isFault: Whether the server failed on the batch repeatedly, instead of refusing it.
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
