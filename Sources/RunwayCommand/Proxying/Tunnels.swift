import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Runway
import Synchronization

/// Decides which tunnels of a forward proxy may be opened, and limits their number.
final class Tunnels: Sendable {
    static let maximumCount = 256
    /// The maximum time to open a tunnel, including the name lookup and the connection attempts to all addresses.
    static let connectTimeout = TimeAmount.seconds(10)

    let targets: ForwardTargets
    private let printer: RecordPrinter
    private struct State {
        var count = 0
        var total = 0
    }
    /// Guards the number of open tunnels, and the number of all tunnels so far.
    private let state = Mutex(State())

    /// The maximum time for which neither end of a tunnel sends a byte.
    private let silence: TimeAmount

    private let connectTimeout: TimeAmount

    init(
        targets: ForwardTargets, silence: TimeAmount, printer: RecordPrinter,
        connectTimeout: TimeAmount = connectTimeout
    ) {
        (self.targets, self.connectTimeout) = (targets, connectTimeout)
        self.silence = silence
        self.printer = printer
    }

    /// Admits a tunnel. It occupies a slot until ``Slot/end(failing:up:down:)``.
    ///
    /// - Throws: The response to a request whose port is not allowed, or that exceeds the limit.
    func admit(_ request: ConnectRequest) throws(Refusal) -> Slot {
        guard targets.tunnelPorts.contains(request.port) else {
            throw Refusal(
                .forbidden,
                "Tunnels to port \(request.port) are not allowed; --connect-port \(request.port) permits them.")
        }
        let number: Int? = state.withLock { state in
            guard state.count < Self.maximumCount else { return nil }
            state.count += 1
            state.total += 1
            return state.total
        }
        guard let number else { throw Refusal(.serviceUnavailable, "\(Self.maximumCount) tunnels are open.") }
        return Slot(tunnels: self, request: request, number: number, start: .now)
    }

    struct Slot: Sendable {
        fileprivate let tunnels: Tunnels
        let request: ConnectRequest
        let number: Int
        let start: ContinuousClock.Instant

        /// Tries the allowed addresses of the host in their order, until a connection succeeds.
        ///
        /// The future fails with ``TunnelTimeout`` after `connectTimeout`. It also fails as soon as the client has
        /// closed its connection. A lookup in progress can't be cancelled, so its result is ignored. A connection that
        /// succeeds too late is closed.
        func connect(on eventLoop: any EventLoop, until clientClosed: EventLoopFuture<Void>) -> EventLoopFuture<
            any Channel
        > {
            let deadline = NIODeadline.now() + tunnels.connectTimeout
            let result = eventLoop.makePromise(of: (any Channel).self)
            let isOver = NIOLoopBoundBox(false, eventLoop: eventLoop)
            let attempt = eventLoop.makePromise(of: (any Channel).self)
            let task = attempt.completeWithTask { try await connect(on: eventLoop, by: deadline) }
            let end: @Sendable (any Error) -> Void = { error in
                guard !isOver.value else { return }
                isOver.value = true
                task.cancel()
                result.fail(error)
            }
            let timer = eventLoop.scheduleTask(deadline: deadline) { end(TunnelTimeout(host: request.host)) }
            clientClosed.whenComplete { _ in end(ChannelError.ioOnClosedChannel) }
            attempt.futureResult.whenComplete { attempted in
                timer.cancel()
                if isOver.value {
                    if case .success(let late) = attempted { late.close(promise: nil) }
                } else {
                    isOver.value = true
                    result.completeWith(attempted)
                }
            }
            return result.futureResult
        }

        /// Tries one address after the other. Each has its share of the remaining time.
        private func connect(on eventLoop: any EventLoop, by deadline: NIODeadline) async throws -> any Channel {
            var failure: any Error = ForbiddenTarget(host: request.host)
            let addresses = try await tunnels.targets.addresses(of: request.host)
            for (index, address) in addresses.enumerated() {
                try Task.checkCancellation()
                let remaining = (deadline - NIODeadline.now()).nanoseconds / Int64(addresses.count - index)
                let share = TimeAmount.nanoseconds(max(remaining, 1_000_000))
                do {
                    return try await ClientBootstrap(group: eventLoop)
                        .connectTimeout(share)
                        .channelOption(.autoRead, value: false).channelOption(.allowRemoteHalfClosure, value: true)
                        .channelInitializer { [silence = tunnels.silence] channel in
                            channel.eventLoop.makeCompletedFuture {
                                try channel.pipeline.syncOperations.addHandler(IdleStateHandler(allTimeout: silence))
                            }
                        }
                        .connect(to: SocketAddress(ipAddress: address.description, port: request.port)).get()
                } catch {
                    failure = error
                }
            }
            throw failure
        }

        /// Releases the slot of the tunnel, and prints the record of the tunnel.
        func end(failing error: (any Error)?, up: Int, down: Int) {
            tunnels.state.withLock { $0.count -= 1 }
            tunnels.printer.receive(
                TunnelRecord(
                    number: number, authority: "\(request.host):\(request.port)", sentByteCount: up,
                    receivedByteCount: down, duration: .now - start, failure: error.map { $0.redactedDescription }))
        }
    }
}

struct TunnelTimeout: DescribedError {
    let host: String

    var description: String { "The host \(host) was not looked up and connected to in time." }
}

struct TunnelRecord: Sendable, Encodable {
    let number: Int
    let authority: String
    let sentByteCount: Int
    let receivedByteCount: Int
    let duration: Duration
    /// The reason why the tunnel was not opened; `nil` if it was opened.
    let failure: String?

    private enum CodingKeys: String, CodingKey {
        case tunnel, authority, sentByteCount, receivedByteCount, seconds, failure
    }

    func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(number, forKey: .tunnel)
        try fields.encode(authority, forKey: .authority)
        try fields.encode(sentByteCount, forKey: .sentByteCount)
        try fields.encode(receivedByteCount, forKey: .receivedByteCount)
        try fields.encode(duration.roundedSeconds, forKey: .seconds)
        try fields.encodeIfPresent(failure, forKey: .failure)
    }

    var line: String {
        if let failure { return "tunnel \(number) CONNECT \(authority) failed in \(duration.text): \(failure)" }
        let bytes = "\(sentByteCount) bytes sent, \(receivedByteCount) bytes received"
        return "tunnel \(number) CONNECT \(authority) ended after \(duration.text), \(bytes)"
    }
}
