import NIOCore
import NIOPosix
import NIOSSL
import Runway

/// An attempt to connect to one address. It performs the steps of a ``DialAttemptMachine`` on its event loop.
final class DialAttempt {
    /// An event that an attempt reports to its owner.
    enum Event {
        /// The TCP connection is established. Reported again if the attempt is repeated with all root certificates.
        case connected
        /// The connection is ready. Its owner uses it, or closes it with ``DialAttempt/cut()``. No event follows.
        case established(DialedConnection)
        /// The attempt failed. The error is a ``TLSUnavailable`` if the address is not the cause. No event follows.
        case failed(any Error)
        /// The time set by ``DialAttempt/limit(to:)`` has passed. No event follows.
        case timedOut
    }

    struct Target {
        let address: SocketAddress
        /// The host that the server's certificate must name. A host name is sent to the server (SNI).
        let host: String
        /// The TLS settings to verify the server with; `nil` for a plain connection.
        let tls: TLSPreparation?
        /// Requests a tunnel to the host from the proxy at the address; `nil` for a direct connection. The default is
        /// `nil`.
        var tunnel: ProxyHandshake?
    }

    private let target: Target
    private let eventLoop: any EventLoop
    private let report: (Event) -> Void
    private var machine: DialAttemptMachine
    private var channel: (any Channel)?
    private var timer: Scheduled<Void>?

    /// Creates an attempt. ``run()`` starts it.
    ///
    /// - Parameters:
    ///   - target: The address and host to connect to.
    ///   - eventLoop: The event loop on which the attempt and its owner run.
    ///   - report: Called with each event until the attempt ends or is cancelled.
    init(to target: Target, on eventLoop: any EventLoop, report: @escaping (Event) -> Void) {
        self.target = target
        self.eventLoop = eventLoop
        self.report = report
        machine = DialAttemptMachine(usesProxy: target.tunnel != nil, usesTLS: target.tls != nil)
    }

    /// Starts the attempt. Call it once.
    func run() {
        machine.start(now: .now())
        connect()
    }

    /// Makes the attempt time out after a duration, unless it ends earlier.
    func limit(to limit: Duration) {
        timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
            if self.machine.end() { self.finish(.timedOut) }
        }
    }

    /// Cancels the attempt and closes its socket. No event follows.
    func cancel() {
        if machine.end() { finish(nil) }
    }

    /// Closes the socket immediately, without a TLS closing handshake.
    func cut() {
        guard let channel else { return }
        // A normal close would wait for the server's close notification, which may never come.
        if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            tls.close(promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    /// Reports an event after the machine has ended the attempt.
    private func finish(_ event: Event?) {
        timer?.cancel()
        if case .established? = event {} else { cut() }
        if let event { report(event) }
    }

    private func fail(_ error: any Error) {
        if machine.end() { finish(.failed(error)) }
    }
}

extension DialAttempt {
    private func connect() {
        let attempt = NIOLoopBound(self, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            // Nothing may be read before a handler is installed.
            .channelOption(.autoRead, value: false)
            // This is effectively no timeout, since the owner of the attempt ends it.
            .connectTimeout(.hours(24))
            .channelInitializer { channel in
                attempt.value.channel = channel
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .connect(to: target.address).assumeIsolated().whenComplete { result in
                switch result {
                case .success(let channel): self.connected(channel)
                case .failure(let error): self.fail(error)
                }
            }
    }

    private func connected(_ channel: any Channel) {
        let next = machine.connected(now: .now())
        if next != nil { report(.connected) }
        perform(next, on: channel)
    }

    private func perform(_ next: DialAttemptMachine.Next?, on channel: any Channel) {
        switch next {
        case nil: cut()
        case .tunnel?: requestTunnel(on: channel)
        case .prepareTLS?: prepareTLS(for: channel)
        case .establish(let wire)?:
            let handover = HandoverHandler()
            do {
                try channel.pipeline.syncOperations.addHandler(handover)
                finish(.established(connection(over: channel, handover, after: wire)))
            } catch {
                finish(.failed(error))
            }
        }
    }

    private func requestTunnel(on channel: any Channel) {
        guard let tunnel = target.tunnel else { preconditionFailure("a tunnel through no proxy") }
        let handler = ProxyHandshakeHandler(tunnel) { [weak self] handler, result in
            switch result {
            case .success:
                channel.pipeline.syncOperations.removeHandler(handler, promise: nil)
                self?.perform(self?.machine.tunnelled(), on: channel)
            case .failure(let error): self?.fail(error)
            }
        }
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
            try channel.syncOptions?.setOption(.autoRead, value: true)
            try handler.start(on: channel)
        } catch {
            fail(error)
        }
    }

    private func prepareTLS(for channel: any Channel) {
        guard let tls = target.tls else { preconditionFailure("TLS on a plain connection") }
        tls.policy(on: eventLoop).assumeIsolated().whenComplete { result in
            guard self.machine.prepared() else { return }
            do {
                let client = Result { try result.get().client(for: self.target.host) }.mapError(TLSUnavailable.init)
                try self.shakeHands(over: channel, client.get())
            } catch {
                self.fail(error)
            }
        }
    }

    private func shakeHands(over channel: any Channel, _ client: TLSClient) throws {
        let handover = HandoverHandler { [weak self] handover, result in
            switch result {
            case .success(let name): self?.secured(channel, handover, name)
            case .failure(let error): self?.handshakeFailed(client, error)
            }
        }
        let operations = channel.pipeline.syncOperations
        try operations.addHandler(handover)
        // Adding the handler starts the TLS handshake.
        try operations.addHandler(client.handler, position: .before(handover))
        try channel.syncOptions?.setOption(.autoRead, value: true)
    }

    private func secured(_ channel: any Channel, _ handover: HandoverHandler, _ name: String?) {
        guard var wire = machine.secured(now: .now()) else { return }
        wire.tlsVersion = (try? channel.pipeline.syncOperations.nioSSL_tlsVersion())?.name
        finish(.established(connection(over: channel, handover, speaking: name, after: wire)))
    }

    private func handshakeFailed(_ client: TLSClient, _ error: any Error) {
        switch machine.handshakeFailed(mayLackRoot: client.mayHaveLackedRoot(error), now: .now()) {
        case nil: break
        case .fail?: finish(.failed(client.explained(error)))
        case .retryWithAllRoots?:
            guard let tls = target.tls else { preconditionFailure("Only a connection with TLS retries with all roots") }
            cut()
            tls.readAllRoots()
            connect()
        }
    }

    private func connection(
        over channel: any Channel, _ handover: HandoverHandler, speaking name: String? = nil,
        after wire: WireRecord
    ) -> DialedConnection {
        DialedConnection(
            channel: channel, applicationProtocol: name?.isEmpty == true ? nil : name, address: target.address,
            wire: wire, handover: NIOLoopBound(handover, eventLoop: eventLoop))
    }
}

/// TLS could not be set up on this device. Any other address would fail in the same way.
struct TLSUnavailable: Error {
    let reason: any Error
}

extension TLSVersion {
    /// The name of the TLS version, such as `TLSv1.3`.
    fileprivate var name: String {
        switch self {
        case .tlsv1: "TLSv1"
        case .tlsv11: "TLSv1.1"
        case .tlsv12: "TLSv1.2"
        case .tlsv13: "TLSv1.3"
        }
    }
}
