import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Runway
import Synchronization

/// The tunnels of a forward proxy: decides which may be opened, and limits their number.
final class Tunnels: Sendable {
    /// The most tunnels at a time.
    static let maximumCount = 256
    /// The longest time until a tunnel is open, with the lookup of the name and the connections to all addresses.
    static let connectTimeout = TimeAmount.seconds(10)

    let targets: ForwardTargets
    private let printer: RecordPrinter
    private struct State {
        var count = 0
        var total = 0
    }
    /// Guards the numbers of open tunnels and of all tunnels so far.
    private let state = Mutex(State())

    /// The longest time in which neither end sends a byte.
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

    /// Admits a tunnel, which occupies a slot until ``Slot/end(failing:up:down:)``.
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

    /// The slot of one tunnel.
    struct Slot: Sendable {
        fileprivate let tunnels: Tunnels
        let request: ConnectRequest
        let number: Int
        let start: ContinuousClock.Instant

        /// Connects to one of the host's addresses that are allowed, in their order.
        ///
        /// The future fails with ``TunnelTimeout`` after the tunnels' `connectTimeout`, and fails as soon as the client
        /// has closed its connection. Work in progress is then abandoned: a lookup can't be cancelled, and a connection
        /// that is made later is closed.
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

        /// Connects to one address after the other, each within its share of the remaining time.
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

        /// Ends the tunnel, and prints its record.
        func end(failing error: (any Error)?, up: Int, down: Int) {
            tunnels.state.withLock { $0.count -= 1 }
            tunnels.printer.receive(
                TunnelRecord(
                    number: number, authority: "\(request.host):\(request.port)", sentByteCount: up,
                    receivedByteCount: down, duration: .now - start, failure: error.map { $0.redactedDescription }))
        }
    }
}

/// The time for opening a tunnel has passed.
struct TunnelTimeout: DescribedError {
    let host: String

    var description: String { "The host \(host) was not looked up and connected to in time." }
}

/// The record of a tunnel.
struct TunnelRecord: Sendable, Encodable {
    let number: Int
    /// Host and port.
    let authority: String
    /// The number of bytes that the client sent.
    let sentByteCount: Int
    /// The number of bytes that the server sent.
    let receivedByteCount: Int
    let duration: Duration
    /// The reason why the tunnel was not opened; `nil` if it was.
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

    /// The record as one line for a person.
    var line: String {
        if let failure { return "tunnel \(number) CONNECT \(authority) failed in \(duration.text): \(failure)" }
        let bytes = "\(sentByteCount) bytes sent, \(receivedByteCount) bytes received"
        return "tunnel \(number) CONNECT \(authority) ended after \(duration.text), \(bytes)"
    }
}
