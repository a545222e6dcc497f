import Dispatch
import Foundation
import NIOCore
import Runway

/// Which hosts and ports a forward proxy connects to, and their addresses.
///
/// Names are looked up here, and only a checked address is connected to: a name can't lead to another address after the check.
struct ForwardTargets: Sendable {
    /// The ports to which a tunnel may lead, 443 in any case.
    let tunnelPorts: Set<Int>
    /// Whether addresses that are not public may be connected to: this machine, its link, private networks.
    let allowsLocal: Bool
    /// The addresses of this machine's network interfaces.
    let ownAddresses: Set<IPAddress>
    private let lookUp: @Sendable (String) throws -> [IPAddress]

    /// The most addresses of a host that are tried.
    static let maximumAddressCount = 4

    /// - Parameters:
    ///   - tunnelPorts: The ports besides 443 to which a tunnel may lead.
    ///   - lookUp: Returns the addresses of a name; may block its thread. The default is the system's lookup.
    init(
        tunnelPorts: [Int], allowsLocal: Bool, ownAddresses: Set<IPAddress> = Self.interfaceAddresses(),
        lookUp: @escaping @Sendable (String) throws -> [IPAddress] = systemAddresses
    ) {
        self.tunnelPorts = Set(tunnelPorts).union([443])
        self.allowsLocal = allowsLocal
        self.ownAddresses = ownAddresses
        self.lookUp = lookUp
    }

    /// Whether an address may be connected to.
    func allows(_ address: IPAddress) -> Bool { allowsLocal || (address.isPublic && !ownAddresses.contains(address)) }

    /// The addresses of a host that may be connected to, at least one.
    ///
    /// - Throws: ``ForbiddenTarget`` if none may be, or the error of the lookup.
    func addresses(of host: String) async throws -> [IPAddress] {
        let all: [IPAddress]
        if let address = IPAddress(host) {
            all = [address]
        } else {
            all = try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(with: Result { try lookUp(host) }) }
            }
        }
        let allowed = all.filter(allows)
        guard !allowed.isEmpty else { throw ForbiddenTarget(host: host) }
        return Array(allowed.prefix(Self.maximumAddressCount))
    }

    /// The addresses of this machine's network interfaces; none if the system does not list them.
    private static func interfaceAddresses() -> Set<IPAddress> {
        let devices = (try? System.enumerateDevices()) ?? []
        return Set(devices.compactMap { $0.address?.ipAddress.flatMap { IPAddress($0) } })
    }
}

/// A request of a client is for a host that the proxy does not connect to.
struct ForbiddenTarget: DescribedError {
    let host: String

    var description: String {
        "The proxy does not connect to \(host), which is this machine or on a network of its own; --allow-local permits it."
    }
}

/// The addresses of a name as the system knows them, without scoped ones. Loopback names are this machine (RFC 6761 §6.3).
///
/// - Throws: ``LookupFailure``.
@Sendable
private func systemAddresses(of host: String) throws -> [IPAddress] {
    if host.isLoopbackHost { return ["127.0.0.1", "::1"].compactMap { IPAddress($0) } }
    var hints = addrinfo()
    #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
        hints.ai_socktype = SOCK_STREAM
    #endif
    var first: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &first)
    defer { if let first { freeaddrinfo(first) } }
    guard status == 0 else { throw LookupFailure(host: host, reason: String(cString: gai_strerror(status))) }
    return sequence(first: first, next: { $0?.pointee.ai_next }).compactMap { entry in
        guard let info = entry?.pointee, let address = info.ai_addr else { return nil }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        let isRead = getnameinfo(address, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        return isRead
            ? IPAddress(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)) : nil
    }
}

/// A host's name could not be turned into addresses.
struct LookupFailure: DescribedError {
    let host: String
    let reason: String

    var description: String { "The name \(host) can't be looked up: \(reason)" }
}
