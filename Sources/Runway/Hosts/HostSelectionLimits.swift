/// Limits for the choice among the addresses of hosts, and for the number of records.
package struct HostSelectionLimits: Sendable, Hashable {
    /// The duration of the first ban of a failed address. The default is 5 s; at least 1 s. Every further failure
    /// doubles it, until the address worked three times in a row.
    package let firstBan: Duration
    /// The longest ban. The default is 10 minutes.
    package let longestBan: Duration
    /// The age of a measurement at which another one is made, in addition to a dial that happens anyway. The default is
    /// 5 s.
    package let explorationInterval: Duration
    /// The largest fraction of the present address's latency, less 3 ms, that another address may have to replace it.
    /// The default is 0.85; between 0.1 and 1.
    package let hysteresis: Double
    /// The most hosts with records, each once for every network. The default is 128. The least recently used is removed
    /// first.
    package let maximumHosts: Int

    /// The most addresses of a host with records.
    static let maximumAddressesPerHost = 64

    /// Creates limits; see the properties for the defaults.
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
