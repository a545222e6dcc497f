/// Learns for each network how long a link may be silent before something on its way forgets it. Pure.
///
/// It starts at the shortest interval. After three silences of the present interval that a link survived, the next longer one is tried.
/// If a link is found dead, the interval falls back to one step below the longest that worked, and stays. After three failures in a
/// row there, the network is learned anew.
struct HeartbeatLearner: Sendable {
    private struct Record {
        var interval: Duration
        var successes = 0
        var failures = 0
        var isSettled = false
        var lastUse: Int
    }

    /// How many networks are remembered; of more, the one that was not used for longest is forgotten.
    static let maximumNetworks = 16
    private static let neededSuccesses = 3
    private static let toleratedFailures = 3

    private let minimum: Duration
    private let maximum: Duration
    private let step: Duration
    private var records: [String: Record] = [:]
    private var uses = 0

    init(_ options: StreamOptions) {
        minimum = options.minimumHeartbeat
        maximum = max(options.minimumHeartbeat, options.maximumHeartbeat)
        step = options.heartbeatStep
    }

    /// The interval to use on a network, of at most what the server allows.
    ///
    /// - Parameter limit: The longest interval that the server says proxies allow; `nil` if it does not say: then none is tried that is
    ///   longer than the shortest.
    mutating func interval(on network: String, limit: Duration?) -> Duration {
        min(record(of: network).interval, limit ?? minimum, maximum)
    }

    /// A link survived a silence of about the present interval.
    mutating func survived(on network: String) {
        var record = record(of: network)
        record.failures = 0
        record.successes += 1
        if record.successes >= Self.neededSuccesses, !record.isSettled, record.interval < maximum {
            record.interval = min(record.interval + step, maximum)
            record.successes = 0
        }
        records[network] = record
    }

    /// A link was found dead after a silence.
    mutating func failed(on network: String) {
        var record = record(of: network)
        record.successes = 0
        record.failures += 1
        if record.failures >= Self.toleratedFailures {
            record = Record(interval: minimum, lastUse: record.lastUse)
        } else if record.interval > minimum, !record.isSettled {
            // The last interval that worked is one step less; another step is the margin.
            record.interval = max(minimum, record.interval - step * 2)
            record.isSettled = true
        }
        records[network] = record
    }

    private mutating func record(of network: String) -> Record {
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
        let record = Record(interval: minimum, lastUse: uses)
        records[network] = record
        return record
    }
}
