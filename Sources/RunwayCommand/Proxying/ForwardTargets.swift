import NIOCore
import NIOPosix
import Runway
import RunwayTransport
import Synchronization

/// The hosts and ports that a forward proxy may connect to, and their addresses.
///
/// Names are looked up here, and the proxy connects only to an address that was checked. So a name can't resolve to
/// another address after the check.
struct ForwardTargets: Sendable {
    /// The ports that a tunnel may connect to. 443 is always included.
    let tunnelPorts: Set<Int>
    /// Whether the proxy may connect to this machine, its local link, and private networks.
    let allowsLocal: Bool
    private let lookUp: Lookup
    private let lookups = LookupCount()
    private let ownAddresses: @Sendable () throws -> Set<IPAddress>

    /// Looks up the addresses of a host, at least one. A lookup can't be cancelled.
    typealias Lookup = @Sendable (_ host: String, _ eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]>

    /// The maximum number of addresses that are tried per host.
    static let maximumAddressCount = 4

    /// - Parameters:
    ///   - tunnelPorts: The ports that a tunnel may connect to, in addition to 443.
    ///   - allowsLocal: Whether the proxy may connect to addresses that are not public.
    ///   - lookUp: Looks up a name. The default asks the system.
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

    /// Returns the addresses to which the proxy may connect for a host, at least one.
    ///
    /// - Throws: ``ForbiddenTarget`` if no address is allowed, `LookupError`, or the system's error if it can't list
    ///   the network interfaces.
    func addresses(of host: String) async throws -> [IPAddress] {
        let all: [IPAddress]
        if let address = IPAddress(host) {
            all = [address]
        } else {
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            // The number of lookups is limited, since the system's lookup can't be cancelled: it continues after its
            // caller has stopped waiting.
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

struct TooManyLookups: DescribedError {
    var description: String { "Too many names are being looked up." }
}

/// Counts the lookups in progress, including those of clients that have disconnected.
private final class LookupCount: Sendable {
    private static let maximumCount = 512
    /// Guards the number of running lookups.
    private let count = Mutex(0)

    /// Counts a new lookup. Returns `false`, without counting it, if the limit is reached.
    func begin() -> Bool {
        count.withLock { count in
            guard count < Self.maximumCount else { return false }
            count += 1
            return true
        }
    }

    func end() { count.withLock { $0 -= 1 } }
}

/// The error for a request to a host that the proxy does not connect to.
struct ForbiddenTarget: DescribedError {
    let host: String

    var description: String {
        "The proxy does not connect to \(host), which is this machine or on a network of its own; --allow-local permits it."
    }
}

extension LookupError {
    /// The message in the proxy's response.
    var message: String { "The name \(host) can't be looked up: \(reason)" }
}
