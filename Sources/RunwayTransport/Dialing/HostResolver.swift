import Dispatch
import Foundation
package import NIOCore
import Runway
import Synchronization

/// Looks up the addresses of hosts off the event loops. Simultaneous lookups of one host share one system call.
///
/// One call of `getaddrinfo` returns IPv4 and IPv6 addresses together, in the order that the system prefers (RFC 6724).
/// RFC 8305 §3 recommends starting with the address family whose response arrives first. This would save the time
/// between two responses of a name server, but lose the order and need a second thread per host. A host with listed
/// addresses needs no lookup.
///
/// `localhost` and names below it always mean this machine, even if a name server says otherwise (RFC 6761 §6.3).
package final class HostResolver: Sendable {
    /// The maximum number of simultaneous lookups, each of which blocks a thread. Further lookups wait.
    static let maximumConcurrentLookups = 16

    private struct State {
        var waiting: [String: [EventLoopPromise<[SocketAddress]>]] = [:]
        var queue: [String] = []
        var lookupCount = 0
    }

    private let lookUp: @Sendable (String) throws -> [SocketAddress]
    /// Guards the waiters of each host, and the hosts that wait for a thread.
    private let state = Mutex(State())

    /// Creates a resolver with a custom lookup function, for tests.
    ///
    /// - Parameter lookUp: Returns the addresses of a host in order of preference (RFC 6724). It may block its thread.
    init(_ lookUp: @escaping @Sendable (String) throws -> [SocketAddress]) { self.lookUp = lookUp }

    /// Creates a resolver that uses the system's lookup.
    package convenience init() { self.init(systemAddresses) }

    /// Returns the addresses of a host: at least one, each without a port. The future is on `eventLoop`.
    package func addresses(of host: String, on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        let promise = eventLoop.makePromise(of: [SocketAddress].self)
        let isFree = state.withLock { state in
            let isInFlight = state.waiting[host] != nil
            state.waiting[host, default: []].append(promise)
            if isInFlight { return false }
            if state.lookupCount < Self.maximumConcurrentLookups {
                state.lookupCount += 1
                return true
            }
            state.queue.append(host)
            return false
        }
        if isFree { DispatchQueue.global(qos: .userInitiated).async { self.work(on: host) } }
        return promise.futureResult
    }

    /// Looks up a host, and then further hosts that wait for a thread.
    private func work(on first: String) {
        var next: String? = first
        while let host = next {
            let result = Result<[SocketAddress], any Error> {
                let addresses = host.isLoopbackName ? try ownAddresses() : try lookUp(host)
                if addresses.isEmpty { throw LookupError(host: host, reason: "it has no address") }
                return addresses
            }
            let promises: [EventLoopPromise<[SocketAddress]>]
            (promises, next) = state.withLock { state in
                let promises = state.waiting.removeValue(forKey: host) ?? []
                let next = state.queue.isEmpty ? nil : state.queue.removeFirst()
                if next == nil { state.lookupCount -= 1 }
                return (promises, next)
            }
            for promise in promises { promise.completeWith(result) }
        }
    }
}

extension HostResolver {
    /// Returns the system's loopback addresses for `localhost`, or else 127.0.0.1 and ::1.
    private func ownAddresses() throws -> [SocketAddress] {
        let known = (try? lookUp("localhost")) ?? []
        let own = known.filter { $0.ipAddress.flatMap { IPAddress($0) }?.isLoopback == true }
        return own.isEmpty ? try ["127.0.0.1", "::1"].map { try SocketAddress(ipAddress: $0, port: 0) } : own
    }
}

/// The error of a failed lookup of a host's addresses.
package struct LookupError: DescribedError {
    package let host: String
    package let reason: String

    package var description: String { reason }
}

/// Returns the addresses of a host by `getaddrinfo`.
///
/// - Throws: ``LookupError``.
@Sendable
private func systemAddresses(of host: String) throws -> [SocketAddress] {
    // Without flags, Darwin uses AI_DEFAULT (getaddrinfo(3)). This default omits addresses of families that no
    // interface has. On an IPv6-only network, it translates IPv4 addresses (NAT64), except the addresses of this
    // machine.
    var hints = addrinfo()
    #if canImport(Glibc)
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
        hints.ai_socktype = SOCK_STREAM
    #endif
    var first: UnsafeMutablePointer<addrinfo>?
    let status = getaddrinfo(host, nil, &hints, &first)
    defer { if let first { freeaddrinfo(first) } }
    guard status == 0 else { throw LookupError(host: host, reason: String(cString: gai_strerror(status))) }
    return sequence(first: first, next: { $0?.pointee.ai_next }).compactMap { entry in
        guard let info = entry?.pointee, let bytes = UnsafeRawPointer(info.ai_addr) else { return nil }
        // The address family determines the type of the bytes.
        switch info.ai_family {
        case AF_INET: return SocketAddress(bytes.loadUnaligned(as: sockaddr_in.self))
        case AF_INET6: return SocketAddress(bytes.loadUnaligned(as: sockaddr_in6.self))
        default: return nil
        }
    }
}
