import Synchronization

/// Counts how the calls of each endpoint use stored responses, for the ``CacheReport``.
final class CacheUsage: Sendable {
    /// The maximum number of endpoints that are counted separately.
    private let maximumEndpoints: Int

    /// The way in which one call used the cache.
    enum Use: Equatable {
        case fresh(age: Duration)
        /// A stale response was delivered. A fresh one may follow.
        case stale(age: Duration)
        /// A stored response was too old, so the request was sent.
        case expired(age: Duration)
        case absent
        /// The call required a response from the server.
        case bypassed
    }

    /// Guards the counts.
    private let state = Mutex<(counts: [ObjectIdentifier: CacheReport.EndpointUse], uncounted: Int)>(([:], 0))

    init(maximumEndpoints: Int = 500) { self.maximumEndpoints = maximumEndpoints }

    func count(_ use: Use, of endpoint: any Endpoint.Type) {
        change(endpoint, isCall: true) { counts in
            switch use {
            case .fresh(let age):
                counts.freshCount += 1
                counts.ages[Self.index(of: age)].callCount += 1
            case .stale(let age):
                counts.staleCount += 1
                counts.ages[Self.index(of: age)].callCount += 1
            case .expired(let age):
                counts.expiredCount += 1
                counts.ages[Self.index(of: age)].callCount += 1
            case .absent: counts.absentCount += 1
            case .bypassed: counts.bypassedCount += 1
            }
        }
    }

    /// Counts a response of the server that was compared with the stored response.
    ///
    /// - Parameters:
    ///   - age: The age of the stored response when the two were compared.
    ///   - isChanged: Whether the bodies of the two responses differ.
    func count(at age: Duration, isChanged: Bool, of endpoint: any Endpoint.Type) {
        change(endpoint, isCall: false) { counts in
            if isChanged {
                counts.ages[Self.index(of: age)].changedCount += 1
            } else {
                counts.ages[Self.index(of: age)].unchangedCount += 1
            }
        }
    }

    var report: CacheReport {
        let (counts, uncounted) = state.withLock { $0 }
        let endpoints = counts.values.sorted {
            ($1.callCount, $0.service, $0.endpoint) < ($0.callCount, $1.service, $1.endpoint)
        }
        return CacheReport(endpoints: endpoints, uncountedCount: uncounted)
    }

    func reset() { state.withLock { $0 = ([:], 0) } }

    private func change(
        _ endpoint: any Endpoint.Type, isCall: Bool, _ change: (inout CacheReport.EndpointUse) -> Void
    ) {
        let id = ObjectIdentifier(endpoint)
        state.withLock { state in
            // Changing the value in place avoids a copy of the list of ages.
            if let index = state.counts.index(forKey: id) { return change(&state.counts.values[index]) }
            guard state.counts.count < maximumEndpoints else {
                if isCall { state.uncounted += 1 }
                return
            }
            var counts = CacheReport.EndpointUse(endpoint)
            change(&counts)
            state.counts[id] = counts
        }
    }

    private static func index(of age: Duration) -> Int {
        CacheReport.bounds.firstIndex { age <= $0 } ?? CacheReport.bounds.endIndex
    }
}
