/// Limits for the choice among the addresses of a host, and for the number of records of measurements.
package struct HostSelectionLimits: Sendable, Hashable {
    /// The duration of the first ban of a failed address. The default is 5 s; at least 1 s. Every further failure
    /// doubles it, until the address has worked three times in a row.
    package let firstBan: Duration
    /// The maximum duration of a ban. The default is 10 minutes.
    package let longestBan: Duration
    /// The age at which a measurement is repeated. The repetition is combined with the next dial. The default is 5 s.
    package let explorationInterval: Duration
    /// Another address replaces the address in use only if its latency is below this fraction of the current latency,
    /// and also more than 3 ms lower. The default is 0.85; between 0.1 and 1.
    package let hysteresis: Double
    /// The maximum number of hosts with records of measurements; a host counts once for each network. The default is
    /// 128. The least recently used host is evicted first.
    package let maximumHosts: Int

    /// The maximum number of addresses with records of measurements for each host.
    static let maximumAddressesPerHost = 64

    package init(
        firstBan: Duration = .seconds(5), longestBan: Duration = .seconds(600),
        explorationInterval: Duration = .seconds(5), hysteresis: Double = 0.85, maximumHosts: Int = 128
    ) {
        self.firstBan = max(firstBan, .seconds(1))
        self.longestBan = max(longestBan, self.firstBan)
        self.explorationInterval = max(explorationInterval, .zero)
        self.hysteresis = min(max(hysteresis, 0.1), 1)
        self.maximumHosts = max(1, maximumHosts)
    }
}
