import Foundation
import NIOCore
import NIOPosix
import Runway
import RunwayTestServer
import Testing

@testable import RunwayCommand

/// How long the opening of a tunnel can take, and what it does not do.
@Suite(.timeLimit(.minutes(5)))
struct TunnelTimeTests {
    private struct Unlisted: Error {}

    private let loop = MultiThreadedEventLoopGroup.singleton.any()

    /// Opens a tunnel to a host whose name is looked up by `lookUp`.
    private func connect(
        port: Int = 443, timeout: TimeAmount, closed: EventLoopFuture<Void>, lookUp: @escaping ForwardTargets.Lookup
    ) async throws {
        let targets = ForwardTargets(tunnelPorts: [port], allowsLocal: true, lookUp: lookUp)
        let tunnels = Tunnels(
            targets: targets, silence: .seconds(60), printer: RecordPrinter(style: .line), connectTimeout: timeout)
        let request = Array("CONNECT slow.example:\(port) HTTP/1.1\r\n\r\n".utf8)
        guard case .complete(let request, _) = try ConnectRequest.read(request, after: 0) else {
            throw ChannelError.eof
        }
        let slot = try tunnels.admit(request)
        let loop = loop
        let opening = loop.flatSubmit { slot.connect(on: loop, until: closed).flatMap { $0.close() } }
        try await opening.get()
    }

    @Test func endlessLookupTimesOut() async throws {
        let (never, open) = (loop.makePromise(of: [SocketAddress].self), loop.makePromise(of: Void.self))
        await #expect(throws: TunnelTimeout.self) {
            try await connect(timeout: .milliseconds(50), closed: open.futureResult) { _, _ in never.futureResult }
        }
        open.succeed()
        never.fail(ChannelError.eof)
    }

    @Test func clientThatClosesEndsTheLookup() async throws {
        let (never, closing) = (loop.makePromise(of: [SocketAddress].self), loop.makePromise(of: Void.self))
        await #expect(throws: ChannelError.self) {
            try await connect(timeout: .hours(1), closed: closing.futureResult) { _, _ in
                closing.succeed()
                return never.futureResult
            }
        }
        never.fail(ChannelError.eof)
    }

    @Test func tunnelOpensWithinItsTime() async throws {
        try await withScriptedOrigin { origin in
            let open = loop.makePromise(of: Void.self)
            try await connect(port: origin.port, timeout: .minutes(2), closed: open.futureResult) { _, loop in
                loop.makeCompletedFuture { [try SocketAddress(ipAddress: "127.0.0.1", port: 0)] }
            }
            open.succeed()
        }
    }

    @Test func nothingIsAllowedWhileOwnAddressesAreUnknown() async throws {
        let address = try SocketAddress(ipAddress: "8.8.8.8", port: 0)
        let lookUp: ForwardTargets.Lookup = { _, loop in loop.makeSucceededFuture([address]) }
        let unknown = ForwardTargets(tunnelPorts: [], allowsLocal: false, lookUp: lookUp) { throw Unlisted() }
        for host in ["name.example", "8.8.8.8", "2001:4860:4860::8888"] {
            await #expect(throws: Unlisted.self) { try await unknown.addresses(of: host) }
        }
        let own = try #require(IPAddress("8.8.8.8"))
        let listed = ForwardTargets(tunnelPorts: [], allowsLocal: false, lookUp: lookUp) { [own] }
        await #expect(throws: ForbiddenTarget.self) { try await listed.addresses(of: "name.example") }
    }
}
