import Runway
import Synchronization

/// The spare pool of an origin, for the second attempts of hedged requests: it avoids the addresses of the main pool.
extension OriginPool {
    /// Publishes the addresses of the connections for the spare pool. On the loop.
    func publishAddresses() {
        let addresses = Set(connections.values.compactMap { $0.facts.report?.address })
        addressesInUse.withLock { $0 = addresses }
    }

    /// Drains connections to addresses that the main pool uses by now, if there is another address. On the loop.
    func drainSharedAddresses() {
        guard isSpare else { return }
        let avoided = avoidedAddresses
        let host = origin.bareHost
        let known = dialer.hosts?.addresses(of: host, scheme: origin.scheme) ?? []
        guard known.contains(where: { !avoided.contains($0) && dialer.selector.ban(of: $0, of: host) == nil }) else {
            return
        }
        drain(connections.values.filter { $0.facts.report.map { avoided.contains($0.address) } ?? false }.map(\.id))
    }
}
