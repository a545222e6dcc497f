import Dispatch
import Foundation
import NIOCore
import Runway
import Synchronization

/// Asks the system for the addresses of hosts, off the event loops: one question a host at a time, shared by all who ask it.
///
/// The addresses of IPv4 and IPv6 come together, when the system has both, in the order that it prefers (RFC 6724): it is one call of
/// `getaddrinfo`. RFC 8305 §3 would have a client start with whichever came first; what that could save is the difference of two answers of
/// one name server, and it would cost the order and a second thread for each host. A host of which a list names addresses waits for
/// neither.
///
/// A name below `localhost` leads to this machine, whatever a name server says of it (RFC 6761 §6.3).
final class HostResolver: Sendable {
    /// The most questions that are asked at once, each of which holds a thread; further ones wait in line.
    static let maximumConcurrentLookups = 16

    private struct State {
        var waiting: [String: [EventLoopPromise<[SocketAddress]>]] = [:]
        var line: [String] = []
        var lookupCount = 0
    }

    private let lookUp: @Sendable (String) throws -> [SocketAddress]
    /// Guards who waits for which host, and which hosts wait for a thread.
    private let state = Mutex(State())

    /// Makes a resolver.
    ///
    /// - Parameter lookUp: Gives the addresses of a host, in the order in which they are preferred (RFC 6724); may block its thread. The
    ///   default asks the system.
    init(_ lookUp: @escaping @Sendable (String) throws -> [SocketAddress] = systemAddresses) { self.lookUp = lookUp }

    /// The addresses of a host, without a port, on this loop; never none.
    func addresses(of host: String, on eventLoop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        let promise = eventLoop.makePromise(of: [SocketAddress].self)
        let isFree = state.withLock { state in
            let isAsked = state.waiting[host] != nil
            state.waiting[host, default: []].append(promise)
            if isAsked { return false }
            if state.lookupCount < Self.maximumConcurrentLookups {
                state.lookupCount += 1
                return true
            }
            state.line.append(host)
            return false
        }
        if isFree { DispatchQueue.global(qos: .userInitiated).async { self.work(on: host) } }
        return promise.futureResult
    }

    /// Asks for this host, and then for those in line.
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
                let next = state.line.isEmpty ? nil : state.line.removeFirst()
                if next == nil { state.lookupCount -= 1 }
                return (promises, next)
            }
            for promise in promises { promise.completeWith(result) }
        }
    }
}

extension HostResolver {
    /// What the system takes for this machine, if it is that, and otherwise the addresses that always are.
    private func ownAddresses() throws -> [SocketAddress] {
        let known = (try? lookUp("localhost")) ?? []
        let own = known.filter { $0.ipAddress.flatMap { IPAddress($0) }?.isLoopback == true }
        return own.isEmpty ? try ["127.0.0.1", "::1"].map { try SocketAddress(ipAddress: $0, port: 0) } : own
    }
}

/// A host's name could not be turned into addresses.
struct LookupError: DescribedError {
    let host: String
    let reason: String

    var description: String { reason }
}

/// The addresses of a host as the system knows them, by `getaddrinfo`.
///
/// - Throws: ``LookupError``.
@Sendable
private func systemAddresses(of host: String) throws -> [SocketAddress] {
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
        // The family says of what kind the bytes are.
        switch info.ai_family {
        case AF_INET: return SocketAddress(bytes.loadUnaligned(as: sockaddr_in.self))
        case AF_INET6: return SocketAddress(bytes.loadUnaligned(as: sockaddr_in6.self))
        default: return nil
        }
    }
}
