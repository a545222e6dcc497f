import Foundation

/// Decides which scope of a log has a batch to send, and how many records it has. Pure.
///
/// A batch is sent when enough records wait, when the app asks, when the interval has passed since the oldest was
/// recorded, at launch if anything waits, when a network comes back, and when somebody signs in. What is left of enough
/// records waits for the next; for every other cause, and after a failure, batches follow until all is sent that waited
/// then. Records that come meanwhile wait for a cause of their own.
struct LogBatches: SendPolicy {
    /// How much may be sent now, as the file says.
    struct Reading: Sendable {
        /// By scope: the records of nobody, those of the account that is signed in, and the erasures that the server is
        /// asked for.
        var counts: [String: Int]
        /// How many records of each scope, and erasures, the server has accepted or refused in this run, without those
        /// that wait again after a series of refusals.
        var ended: [String: Int] = [:]
        /// How long the oldest of these records waited at ``instant``; zero if the log has no interval, the only thing
        /// that needs it.
        var age = Duration.zero
        /// When it was read, by the layer's clock.
        var instant: Duration
        /// Counts the readings. A later one knows more.
        var number: Int
    }

    /// The treatment of a batch that was not accepted.
    enum Treatment: Equatable, Sendable {
        /// It is sent again.
        case `repeat`
        /// Its records are sent in smaller batches.
        case halve
        /// Its only record is set aside.
        case setAside
    }

    private struct Size: Sendable {
        var limit: Int
        /// Single records set aside since the last batch that was accepted.
        var refusals = 0
    }

    /// How many single records in a row have to be set aside until the server seems to refuse everything.
    static let refusalLimit = 3

    private let batchSize: Int
    private let interval: Duration?
    private let maximumServerFaults: Int
    private var sizes: [String: Size] = [:]
    private(set) var reading: Reading?
    /// The value of ``Reading/ended`` at which everything is sent that waited at the last cause.
    private var dueEnds: [String: Int] = [:]

    init(_ options: ActionLogOptions) {
        batchSize = max(1, options.batchSize)
        interval = options.interval
        maximumServerFaults = max(1, options.maximumServerFaults)
    }

    /// The scopes in which records wait that may be sent now.
    var scopes: [String] { (reading?.counts ?? [:]).keys.sorted() }

    /// Takes note of how many records wait, unless a newer reading overtook this one: an account may have signed in
    /// between both.
    ///
    /// - Parameter isUrgent: Whether all that waits is to be sent. The default is `false`.
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

    /// All records go to one server.
    func server(of scope: String) -> String { "" }

    func start(of scope: String, from earliest: Duration, isSuspected: Bool, at now: Duration) -> Duration? {
        guard let reading else { return nil }
        let isDue = dueEnds[scope, default: 0] > reading.ended[scope, default: 0]
        // Records behind a suspected one are accepted before it, and are counted in its place.
        if isDue || isSuspected || reading.counts.values.reduce(0, +) >= batchSize { return earliest }
        return interval.map { max(earliest, reading.instant - reading.age + $0) }
    }

    /// The most records of the next batch of a scope.
    func limit(_ scope: String) -> Int { size(scope).limit }

    /// Whether the server has refused, or failed on, one record of a scope after the other: it may be refusing
    /// everything.
    var isRefusingAll: Bool { sizes.values.contains { $0.refusals >= Self.refusalLimit } }

    /// How many single records of a scope were set aside since its last batch that was accepted.
    func refusals(of scope: String) -> Int { size(scope).refusals }

    /// An earlier run has set so many records aside, and no batch was accepted since.
    mutating func restoreRefusals(_ refusals: [String: Int]) {
        for (scope, count) in refusals {
            sizes[scope, default: Size(limit: batchSize)].refusals = max(count, self.refusals(of: scope))
        }
    }

    /// Decides what becomes of a batch that the server refused, or on which it failed.
    ///
    /// - Parameter faults: How often the server failed on it by a fault of its own, which may be over at the next
    ///   attempt; `nil` if the server refused it. After a fault a batch is repeated, as often as the options allow,
    ///   before it is halved. The halves are halved at once, down to single records.
    func treatment(_ scope: String, count: Int, faults: Int?) -> Treatment {
        if let faults, faults < (isHalf(scope, count) ? 1 : maximumServerFaults) { return .repeat }
        return count > 1 ? .halve : .setAside
    }

    /// Whether a batch has records of a larger one that was halved. Halving removes nothing, so that it does no harm if
    /// the server is down.
    func isHalf(_ scope: String, _ count: Int) -> Bool { count > 1 && size(scope).limit < batchSize }

    /// Records that a batch is over whose records are sent in smaller ones, or whose only record was set aside.
    ///
    /// - Parameter isFault: Whether the server did not refuse it, but failed on it again and again.
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
