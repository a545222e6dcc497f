/// Learns for each network how long a connection may be silent before a proxy or router drops it. A pure state machine:
/// callers pass the time.
///
/// It starts with the shortest interval. After connections have survived three silences of the current interval, the
/// next connection tries a longer interval. If a connection with this interval or a shorter one dies, the interval
/// falls back to one step below the longest interval that worked, and stays there. After three failures in a row,
/// learning starts again.
///
/// Streams on one network often share a connection to the server, and survive or fail together. Therefore, only one
/// survival counts per interval, and only one failure per ``failureTime``.
struct HeartbeatLearner: Sendable {
    struct Bounds: Sendable {
        let minimum: Duration
        let maximum: Duration
        let step: Duration

        init(_ options: StreamOptions) {
            minimum = StreamOptions.minimumHeartbeat
            maximum = max(StreamOptions.minimumHeartbeat, options.maximumHeartbeat)
            step = StreamOptions.heartbeatStep
        }
    }

    private struct Record {
        var interval: Duration
        var successes = 0
        var failures = 0
        var isSettled = false
        var lastSuccess: Duration?
        var lastFailure: Duration?
        var lastUse: Int
    }

    /// The maximum number of networks. The least recently used one is removed.
    static let maximumNetworks = 16
    /// The time within which all failures count as one.
    static let failureTime = Duration.seconds(30)
    private static let neededSuccesses = 3
    private static let toleratedFailures = 3
    /// The part of an interval that counts as a whole silence, since heartbeats are sent a little early.
    static let sufficientPart = 0.8

    private var records: [String: Record] = [:]
    private var uses = 0

    init() {}

    /// Returns the interval for a network, at most the longest that the server allows.
    ///
    /// - Parameters:
    ///   - network: Identifies the network.
    ///   - limit: The longest interval that proxies allow according to the server; `nil` if the server reports none.
    ///     Only the shortest interval is used then.
    ///   - bounds: The intervals that the stream allows.
    mutating func interval(on network: String, limit: Duration?, _ bounds: Bounds) -> Duration {
        let interval = max(bounds.minimum, record(of: network, bounds).interval)
        return min(interval, limit ?? bounds.minimum, bounds.maximum)
    }

    /// Records that a connection survived a silence of about its heartbeat interval. Only silences of the current
    /// interval count.
    mutating func survived(_ interval: Duration, on network: String, at now: Duration, _ bounds: Bounds) {
        var record = record(of: network, bounds)
        guard interval == record.interval else { return }
        if let last = record.lastSuccess, now - last < interval * Self.sufficientPart { return }
        record.lastSuccess = now
        record.failures = 0
        record.successes += 1
        if record.successes >= Self.neededSuccesses, !record.isSettled, record.interval < bounds.maximum {
            record.interval = min(record.interval + bounds.step, bounds.maximum)
            record.successes = 0
        }
        records[network] = record
    }

    /// Records that a connection died after a silence. Failures of intervals longer than the current one do not count.
    mutating func failed(_ interval: Duration, on network: String, at now: Duration, _ bounds: Bounds) {
        var record = record(of: network, bounds)
        guard interval <= record.interval else { return }
        if let last = record.lastFailure, now - last < Self.failureTime { return }
        record.lastFailure = now
        record.successes = 0
        record.failures += 1
        if record.failures >= Self.toleratedFailures {
            record = Record(interval: bounds.minimum, lastFailure: now, lastUse: record.lastUse)
        } else if record.interval > bounds.minimum, !record.isSettled {
            // The last interval that worked is one step below the failed one. The second step is a margin.
            record.interval = max(bounds.minimum, interval - bounds.step * 2)
            record.isSettled = true
        }
        records[network] = record
    }

    private mutating func record(of network: String, _ bounds: Bounds) -> Record {
        uses += 1
        if var record = records[network] {
            record.lastUse = uses
            records[network] = record
            return record
        }
        if records.count >= Self.maximumNetworks, let oldest = records.min(by: { $0.value.lastUse < $1.value.lastUse })
        {
            records[oldest.key] = nil
        }
        let record = Record(interval: bounds.minimum, lastUse: uses)
        records[network] = record
        return record
    }
}
