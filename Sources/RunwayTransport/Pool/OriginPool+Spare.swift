import Runway
import Synchronization

/// A pool beside an origin's own, for the second attempts of hedged requests: its connections lead elsewhere, where they can.
extension OriginPool {
    /// Tells the spare pool where the connections lead. On the loop.
    func publishAddresses() {
        let addresses = Set(connections.values.compactMap { $0.facts.report?.address })
        addressesInUse.withLock { $0 = addresses }
    }

    /// Lets go of a connection that leads where the other pool's do by now, if there is another address to go to. On the loop.
    func keepApart() {
        guard isSpare else { return }
        let avoided = avoidedAddresses
        let host = origin.bareHost
        let known = dialer.hosts?.addresses(of: host, scheme: origin.scheme) ?? []
        guard known.contains(where: { !avoided.contains($0) && dialer.selector.ban(of: $0, of: host) == nil }) else {
            return
        }
        for (id, connection) in connections {
            if let address = connection.facts.report?.address, avoided.contains(address) { drain(id) }
        }
    }
}
