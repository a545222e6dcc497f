import NIOCore
import NIOPosix
import Runway
import RunwayTransport
import Synchronization

/// The hosts and ports that a forward proxy may connect to, and their addresses.
///
/// Names are looked up here, and the proxy connects only to a checked address: a name can't lead to another address
/// after the check.
struct ForwardTargets: Sendable {
    /// The ports to which a tunnel may lead. 443 is always among them.
    let tunnelPorts: Set<Int>
    /// Whether addresses that are not public may be connected to: this machine, its link, private networks.
    let allowsLocal: Bool
    private let lookUp: Lookup
    private let lookups = LookupCount()
    private let ownAddresses: @Sendable () throws -> Set<IPAddress>

    /// Returns the addresses of a host, at least one. The lookup can't be cancelled.
    typealias Lookup = @Sendable (_ host: String, _ eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]>

    /// The most addresses of a host that are tried.
    static let maximumAddressCount = 4

    /// - Parameters:
    ///   - tunnelPorts: The ports besides 443 to which a tunnel may lead.
    ///   - allowsLocal: Whether addresses that are not public may be connected to.
    ///   - lookUp: Looks a name up. The default asks the system.
    ///   - ownAddresses: Lists the addresses of this machine.
    init(
        tunnelPorts: [Int], allowsLocal: Bool, lookUp: Lookup? = nil,
        ownAddresses: @escaping @Sendable () throws -> Set<IPAddress> = Self.listOwnAddresses
    ) {
        let resolver = HostResolver()
        self.lookUp = lookUp ?? { host, eventLoop in resolver.addresses(of: host, on: eventLoop) }
        self.ownAddresses = ownAddresses
        self.tunnelPorts = Set(tunnelPorts).union([443])
        self.allowsLocal = allowsLocal
    }

    /// Returns the addresses of a host that the proxy may connect to, at least one.
    ///
    /// - Throws: ``ForbiddenTarget`` if no address is allowed, `LookupError`, or the error of a system that does not
    ///   list its interfaces.
    func addresses(of host: String) async throws -> [IPAddress] {
        let all: [IPAddress]
        if let address = IPAddress(host) {
            all = [address]
        } else {
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            // A lookup continues when its caller no longer waits: the system's lookup can't be cancelled.
            guard lookups.begin() else { throw TooManyLookups() }
            defer { lookups.end() }
            all = try await lookUp(host, loop).get()
                .compactMap { address in address.ipAddress.flatMap { IPAddress($0) } }
        }
        let own = allowsLocal ? [] : try ownAddresses()
        let allowed = all.map(\.unmapped).filter { allowsLocal || ($0.isPublic && !own.contains($0)) }
        guard !allowed.isEmpty else { throw ForbiddenTarget(host: host) }
        return Array(allowed.prefix(Self.maximumAddressCount))
    }

    /// Returns the current addresses of this machine's network interfaces.
    private static func listOwnAddresses() throws -> Set<IPAddress> {
        Set(try System.enumerateDevices().compactMap { $0.address?.ipAddress.flatMap { IPAddress($0) } })
    }
}

/// The limit on running lookups is reached.
struct TooManyLookups: DescribedError {
    var description: String { "Too many names are being looked up." }
}

/// Counts the running lookups, including those of clients that have disconnected.
private final class LookupCount: Sendable {
    private static let maximumCount = 512
    /// Guards the number of running lookups.
    private let count = Mutex(0)

    /// Counts a lookup that begins; returns `false`, and does not count it, if the limit is reached.
    func begin() -> Bool {
        count.withLock { count in
            guard count < Self.maximumCount else { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }
}

/// The refusal of a request for a host that the proxy does not connect to.
struct ForbiddenTarget: DescribedError {
    let host: String

    var description: String {
        "The proxy does not connect to \(host), which is this machine or on a network of its own; --allow-local permits it."
    }
}

extension LookupError {
    /// The message of the proxy's response.
    var message: String { "The name \(host) can't be looked up: \(reason)" }
}
