import Runway

/// Tells what traffic on a connection says of its address, so that the next dial knows; any thread may do so.
struct AddressReport: Sendable {
    let address: IPAddress
    let host: String
    let selector: HostSelector
    let hosts: HostBook?

    /// An answer began so long after its request was sent whole, to the endpoint of this number.
    func answered(after firstByte: Duration, endpoint: Int = 0) {
        selector.note(.answered(firstByte: firstByte, endpoint: endpoint), of: address, of: host)
    }

    /// The connection was lost while it was needed: cut, reset or silent.
    func failed() { selector.note(.failed, of: address, of: host) }

    /// Whether another address of the host is known to be so much better that a new connection is worth it.
    var isOutrun: Bool {
        let known = hosts?.addresses(of: host, scheme: "https") ?? []
        return known.count > 1 && selector.isOutrun(address, among: known, of: host)
    }
}
