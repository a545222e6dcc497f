import NIOSSL
import Runway

/// The host that a server must prove to be. It is compared with the names in the certificate (RFC 9525 §6.3).
///
/// The identity is always the host of the URL. NIOSSL's own comparison would also accept a certificate for the dialled
/// address, so that any listed address with its own certificate would be trusted. It would also accept a common name.
struct ServerIdentity: Sendable {
    enum Name: Sendable {
        case dns(String)
        case address([UInt8])
    }

    private let host: String
    /// The bytes of an address; `nil` for a host name.
    private let address: [UInt8]?

    /// - Parameter host: The host as normalized by ``HostPattern/normal(_:)``.
    init(_ host: String) {
        self.host = host
        address = IPAddress(host)?.bytes
    }

    /// Whether the host is an address, which is not sent in the handshake (RFC 6066 §3).
    var isAddress: Bool { address != nil }

    /// Returns whether one of the names matches the host.
    func isAmong(_ names: some Sequence<Name>) -> Bool {
        names.contains { name in
            switch name {
            case .address(let bytes): bytes == address
            case .dns(let pattern): address == nil && matches(HostPattern.normal(pattern))
            }
        }
    }

    private func matches(_ pattern: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return !pattern.contains("*") && pattern == host }
        // The wildcard must be the whole first label. It matches exactly one label, and another label must follow.
        let rest = pattern.dropFirst()
        guard rest.count > 1, !rest.contains("*"), let dot = host.firstIndex(of: "."), dot > host.startIndex else {
            return false
        }
        return host[dot...] == rest
    }
}

extension NIOSSLCertificate {
    /// The hosts among the subject alternative names.
    var hostNames: [ServerIdentity.Name] {
        _subjectAlternativeNames().compactMap { name in
            switch name.nameType {
            case .dnsName: .dns(String(decoding: name.contents, as: UTF8.self))
            case .ipAddress: .address(Array(name.contents))
            default: nil
            }
        }
    }
}
