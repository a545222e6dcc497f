/// How the addresses of hosts are chosen, and how many records are stored.
package struct HostSelectionLimits: Sendable, Hashable {
    /// How long the first ban of a failed address lasts. The default is 5 s; at least 1 s. Every further failure
    /// doubles it, until it worked three times in a row.
    package let firstBan: Duration
    /// The longest ban. The default is 10 minutes.
    package let longestBan: Duration
    /// How old a measurement may get before another one is made, beside a dial that is made anyhow. The default is 5 s.
    package let explorationInterval: Duration
    /// How much nearer another address must be to take the place of the one in use: this share of its latency at most,
    /// and 3 ms less. The default is 0.85; between 0.1 and 1.
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
