/// Counts, for each endpoint, how the calls of a layer used stored responses. Use the counts to choose lifetimes.
///
/// ```swift
/// print(network.cacheReport)
/// ```
///
/// The report contains only numbers, no parameters and no accounts. It does not count calls that revalidate a stale
/// response for another call, calls of endpoints whose policy stores nothing, and calls that forbid sending a request
/// and find no stored response. A prefetch counts as a call.
public struct CacheReport: Sendable, Hashable {
    /// The counts of each endpoint, sorted by number of calls in descending order; at most 500.
    public let endpoints: [EndpointUse]
    /// The number of calls of all other endpoints, which are not counted separately.
    public let uncountedCount: Int

    /// The maximum ages of all ranges except the last, from a second to a week.
    static let bounds: [Duration] = [1, 10, 30, 60, 180, 600, 1_800, 3_600, 21_600, 86_400, 604_800].map {
        .seconds($0)
    }

    /// Counts how the calls of one endpoint used stored responses.
    public struct EndpointUse: Sendable, Hashable {
        /// The name of the service that the endpoint belongs to.
        public let service: String
        /// The name of the endpoint.
        public let endpoint: String
        /// The kind of the endpoint's responses, which selects their budget.
        public let kind: CacheKind
        /// The number of calls for which a fresh stored response was delivered.
        public internal(set) var freshCount = 0
        /// The number of calls for which a stale stored response was delivered, whether or not a fresh one followed.
        public internal(set) var staleCount = 0
        /// The number of calls whose stored response was too old, so that the request was sent.
        public internal(set) var expiredCount = 0
        /// The number of calls without a stored response: first calls, and calls after an eviction, a clear or a
        /// change.
        public internal(set) var absentCount = 0
        /// The number of calls that bypassed the cache, because they required a response from the server.
        public internal(set) var bypassedCount = 0
        /// Counts by the age of the stored response, in twelve ranges, youngest first. The ranges end at 1, 10 and 30
        /// seconds; 1, 3, 10 and 30 minutes; 1 and 6 hours; a day; and a week. The last range has no end.
        public internal(set) var ages: [AgeRange]

        init(_ endpoint: any Endpoint.Type) {
            service = endpoint.serviceName
            self.endpoint = endpoint.name
            kind = endpoint.cacheKind
            ages = (bounds.map(Optional.some) + [nil]).map { AgeRange(longest: $0) }
        }

        /// The number of all calls.
        public var callCount: Int { freshCount + staleCount + expiredCount + absentCount + bypassedCount }

        /// Estimates the share of calls, from 0 to 1, that a lifetime would serve without a request. Returns `nil`
        /// before the first call.
        ///
        /// The estimate counts the calls that found a stored response of at most this age. Calls that bypassed the
        /// cache are excluded. For a longer lifetime than the current one the estimate is too low, because every
        /// request replaces the stored response by a younger one.
        ///
        /// - Parameter lifetime: A time to live. It is rounded down to 1, 10 or 30 seconds; 1, 3, 10 or 30 minutes; 1
        ///   or 6 hours; a day; or a week.
        public func servedShare(for lifetime: Duration) -> Double? {
            let all = callCount - bypassedCount
            return all == 0 ? nil : Double(ranges(within: lifetime).reduce(0) { $0 + $1.callCount }) / Double(all)
        }

        /// Estimates, as a share from 0 to 1, how many responses that a lifetime serves would differ from the server's
        /// current response. Returns `nil` if no stored response of at most this age was compared with a new one.
        ///
        /// - Parameter lifetime: A time to live, rounded down as in ``servedShare(for:)``.
        public func changedShare(for lifetime: Duration) -> Double? {
            let changed = ranges(within: lifetime).reduce(0) { $0 + $1.changedCount }
            let all = ranges(within: lifetime).reduce(changed) { $0 + $1.unchangedCount }
            return all == 0 ? nil : Double(changed) / Double(all)
        }

        private func ranges(within lifetime: Duration) -> some Sequence<AgeRange> {
            ages.lazy.filter { range in range.longest.map { $0 <= lifetime } ?? false }
        }
    }

    /// Counts how often stored responses of certain ages were found, and compared with new ones.
    public struct AgeRange: Sendable, Hashable {
        /// The maximum age in the range, inclusive; `nil` if the range has no end.
        public let longest: Duration?
        /// The number of calls that found a stored response of an age in this range, fresh or stale.
        public internal(set) var callCount = 0
        /// The number of stored responses of an age in this range that the server replaced by another body.
        public internal(set) var changedCount = 0
        /// The number of stored responses of an age in this range that the server confirmed or sent again unchanged.
        public internal(set) var unchangedCount = 0

        init(longest: Duration?) { self.longest = longest }
    }
}

extension CacheReport: CustomStringConvertible {
    /// The maximum number of endpoints in the text.
    private static var maximumListedCount: Int { 20 }

    /// A table for each of the twenty endpoints with the most calls. For each lifetime it shows two shares: the share
    /// of calls that the lifetime would serve, and the share of changed responses among the compared responses of at
    /// most that age. Lines have at most 100 characters unless names are longer.
    public var description: String {
        if endpoints.isEmpty { return "No call has used the cache." }
        var lines = endpoints.prefix(Self.maximumListedCount).flatMap(\.lines)
        let unlisted = endpoints.count - Self.maximumListedCount
        if unlisted > 0 { lines.append("and \(unlisted) endpoints with fewer calls") }
        if uncountedCount > 0 { lines.append("and \(uncountedCount) calls of endpoints that are not counted") }
        return lines.joined(separator: "\n")
    }
}

extension CacheReport.EndpointUse {
    fileprivate var lines: [String] {
        let budget = kind == .standard ? "" : " (\(kind))"
        var lines = [
            "\(service) \(endpoint)\(budget): \(callCount) calls, \(freshCount) fresh, \(staleCount) stale, "
                + "\(expiredCount) expired, \(absentCount) not stored, \(bypassedCount) bypassing"
        ]
        guard let last = ages.lastIndex(where: { $0.callCount + $0.changedCount + $0.unchangedCount > 0 }) else {
            return lines
        }
        lines.append("  lifetime  serves  changed")
        for range in ages[...last] {
            guard let longest = range.longest, let served = servedShare(for: longest) else { continue }
            let changed = changedShare(for: longest).map(Self.percent) ?? "-"
            lines.append(
                "  \(Self.padded(longest.unitText, 8))  \(Self.padded(Self.percent(served), 6))  \(Self.padded(changed, 7))"
            )
        }
        let older = ages[ages.endIndex - 1]
        if older.callCount > 0 { lines.append("  older than a week: \(older.callCount) calls") }
        return lines
    }

    private static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded()))%" }

    private static func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension Duration {
    /// The duration as a whole number of the largest possible unit.
    fileprivate var unitText: String {
        let seconds = components.seconds
        for (unit, length) in [("d", 86_400), ("h", 3_600), ("min", 60)] as [(String, Int64)]
        where seconds % length == 0 { return "\(seconds / length) \(unit)" }
        return "\(seconds) s"
    }
}

extension Endpoint {
    /// The name of the service that the endpoint belongs to.
    fileprivate static var serviceName: String { Service.name }
}
