/// Counts, for each endpoint, how the calls of a layer used stored responses. Use the counts to choose lifetimes.
///
/// ```swift
/// print(network.cacheReport)
/// ```
///
/// The report contains only numbers, no parameters and no accounts. It does not count calls that revalidate a stale
/// response for another call, calls of endpoints whose policy stores nothing, and calls that may send nothing and find
/// no stored response. A prefetch counts as a call.
public struct CacheReport: Sendable, Hashable {
    /// The endpoints, those with the most calls first; at most 500.
    public let endpoints: [EndpointUse]
    /// The number of calls of further endpoints, which were not counted individually.
    public let uncountedCount: Int

    /// The longest age of each range except the last: from a second to a week.
    static let bounds: [Duration] = [1, 10, 30, 60, 180, 600, 1_800, 3_600, 21_600, 86_400, 604_800].map {
        .seconds($0)
    }

    /// The calls of one endpoint.
    public struct EndpointUse: Sendable, Hashable {
        /// The name of the service.
        public let service: String
        /// The name of the endpoint.
        public let endpoint: String
        /// The kind of its responses, whose budget they use.
        public let kind: CacheKind
        /// The calls for which a fresh stored response landed.
        public internal(set) var freshCount = 0
        /// The calls for which a stale stored response landed, whether or not a fresh one landed after it.
        public internal(set) var staleCount = 0
        /// The calls whose stored response was too old, so that the request was sent.
        public internal(set) var expiredCount = 0
        /// The calls for which nothing was stored: the first ones, and those after an eviction, a clear or a change.
        public internal(set) var absentCount = 0
        /// The calls that bypassed the cache, since they required a response from the server.
        public internal(set) var bypassedCount = 0
        /// The calls and comparisons, grouped by the age of the stored response: twelve ranges, the youngest first.
        /// They end at 1, 10 and 30 seconds, 1, 3, 10 and 30 minutes, 1 and 6 hours, a day and a week; the last range
        /// has no end.
        public internal(set) var ages: [AgeRange]

        init(_ endpoint: any Endpoint.Type) {
            service = endpoint.serviceName
            self.endpoint = endpoint.name
            kind = endpoint.cacheKind
            ages = (bounds.map(Optional.some) + [nil]).map { AgeRange(longest: $0) }
        }

        /// The number of all calls.
        public var callCount: Int { freshCount + staleCount + expiredCount + absentCount + bypassedCount }

        /// Estimates how large a part of the calls a lifetime would serve without a request, from 0 to 1; `nil` before
        /// the first call.
        ///
        /// The estimate counts the calls that found a stored response of at most this age. Calls that bypassed the
        /// cache are excluded. The estimate for a longer lifetime than the present one is too low, since every request
        /// replaces the stored response by a younger one.
        ///
        /// - Parameter lifetime: A time to live. It is rounded down to 1, 10 or 30 seconds, 1, 3, 10 or 30 minutes, 1
        ///   or 6 hours, a day or a week.
        public func servedShare(for lifetime: Duration) -> Double? {
            let all = callCount - bypassedCount
            return all == 0 ? nil : Double(ranges(within: lifetime).reduce(0) { $0 + $1.callCount }) / Double(all)
        }

        /// Estimates the share of the responses served by a lifetime that the server would have changed meanwhile, from
        /// 0 to 1; `nil` if no stored response of at most this age was compared with a new one.
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

    /// Counts how often stored responses of similar ages were found, and compared with new ones.
    public struct AgeRange: Sendable, Hashable {
        /// The longest age of the range; `nil` if it is unlimited. It belongs to the range, and a longer age to the
        /// next one.
        public let longest: Duration?
        /// The number of calls that found a stored response of such an age, fresh or not.
        public internal(set) var callCount = 0
        /// The number of stored responses of such an age that the server then replaced by another body.
        public internal(set) var changedCount = 0
        /// The number of stored responses of such an age that the server then confirmed, or sent again unchanged.
        public internal(set) var unchangedCount = 0

        init(longest: Duration?) { self.longest = longest }
    }
}

extension CacheReport: CustomStringConvertible {
    /// The most endpoints that the text lists.
    private static var maximumListedCount: Int { 20 }

    /// A table for each of the twenty endpoints with the most calls, in lines of at most 100 characters unless names
    /// are longer: for each lifetime, the share of calls that it would serve, and the share of compared responses of at
    /// most that age that had changed.
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
    /// The duration as text, in the largest unit of which it is a whole number.
    fileprivate var unitText: String {
        let seconds = components.seconds
        for (unit, length) in [("d", 86_400), ("h", 3_600), ("min", 60)] as [(String, Int64)]
        where seconds % length == 0 { return "\(seconds / length) \(unit)" }
        return "\(seconds) s"
    }
}

extension Endpoint {
    /// The name of the service.
    fileprivate static var serviceName: String { Service.name }
}
