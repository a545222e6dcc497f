import NIOCore
import NIOPosix
import NIOSSL

/// One address of a dial: connects to it, sets up TLS, and tells once what came of it. Lives on its event loop.
final class DialAttempt {
    private let address: SocketAddress
    private let host: String
    /// `nil` where the connection is a plain one.
    private let tls: TLSPreparation?
    private let tunnel: ProxyHandshake?
    private let eventLoop: any EventLoop
    /// Told when TCP leads to the address.
    var onConnect: (() -> Void)?
    private var onEnd: ((Result<DialedConnection, any Error>) -> Void)?
    private var channel: (any Channel)?
    private var times = DialTimes()
    /// Whether it began anew with all roots that there are.
    private var isWithAllRoots = false
    private var start = NIODeadline.uptimeNanoseconds(0)

    /// Makes an attempt.
    ///
    /// - Parameters:
    ///   - address: Where to connect to.
    ///   - host: The host that the server has to prove that it is, whatever the address; a name is told to it (SNI).
    ///   - tls: How it has to prove that; `nil` for a plain connection.
    ///   - tunnel: What to say to a proxy, where the address is one's.
    ///   - eventLoop: The loop that it is on, as is whoever calls it.
    ///   - onEnd: Told once what came of it, unless it is cancelled before. Fails as ``TLSUnavailable`` where no address is to blame.
    init(
        to address: SocketAddress, for host: String, over tls: TLSPreparation?,
        through tunnel: ProxyHandshake? = nil, on eventLoop: any EventLoop,
        onEnd: @escaping (Result<DialedConnection, any Error>) -> Void
    ) {
        self.address = address
        self.host = host
        self.tls = tls
        self.tunnel = tunnel
        self.eventLoop = eventLoop
        self.onEnd = onEnd
    }

    /// Starts to connect.
    func run() {
        start = .now()
        let attempt = NIOLoopBound(self, eventLoop: eventLoop)
        ClientBootstrap(group: eventLoop)
            // Nothing is read before there is somebody to read it.
            .channelOption(.autoRead, value: false)
            // Whoever runs the attempt ends it in time.
            .connectTimeout(.hours(24))
            .channelInitializer { channel in
                attempt.value.channel = channel
                return channel.eventLoop.makeSucceededVoidFuture()
            }
            .connect(to: address).assumeIsolated().whenComplete { result in
                switch result {
                case .success(let channel): self.connected(channel)
                case .failure(let error): self.end(.failure(error))
                }
            }
    }

    /// Closes the socket at once, without a word. Nothing is told any more.
    func cancel() {
        if onEnd == nil { return }
        onEnd = nil
        cut()
    }

    /// Tells somebody else what comes of it.
    func redirect(to onEnd: @escaping (Result<DialedConnection, any Error>) -> Void) {
        if self.onEnd != nil { self.onEnd = onEnd }
    }

    /// Closes the socket at once, without a word.
    func cut() {
        guard let channel else { return }
        // TLS would say goodbye and wait for an answer, which may never come from who did not answer before: so it is passed by.
        if let tls = try? channel.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            tls.close(promise: nil)
        } else {
            channel.close(promise: nil)
        }
    }

    private func end(_ result: Result<DialedConnection, any Error>) {
        guard let onEnd else { return cut() }
        self.onEnd = nil
        if case .failure = result { cut() }
        onEnd(result)
    }

    private func connected(_ channel: any Channel) {
        guard onEnd != nil else { return cut() }
        let connected = NIODeadline.now()
        times.tcp = Duration(connected - start)
        onConnect?()
        guard let tunnel else { return secure(channel, since: connected) }
        do {
            var handler: ProxyHandshakeHandler?
            let asking = ProxyHandshakeHandler(tunnel) { [weak self] result in
                guard let self, let handler else { return }
                switch result {
                case .success:
                    channel.pipeline.syncOperations.removeHandler(handler, promise: nil)
                    self.secure(channel, since: connected)
                case .failure(let error): self.end(.failure(error))
                }
            }
            handler = asking
            try channel.pipeline.syncOperations.addHandler(asking)
            try channel.syncOptions?.setOption(.autoRead, value: true)
            try asking.start(on: channel)
        } catch {
            end(.failure(error))
        }
    }

    private func secure(_ channel: any Channel, since connected: NIODeadline) {
        guard onEnd != nil else { return cut() }
        guard let tls else {
            let handover = HandoverHandler()
            return end(
                Result {
                    try channel.pipeline.syncOperations.addHandler(handover)
                    return connection(over: channel, handover, speaking: nil, nil)
                })
        }
        tls.policy(on: eventLoop).assumeIsolated().whenComplete { result in
            guard self.onEnd != nil else { return }
            do {
                let client = Result { try result.get().client(for: self.host) }.mapError(TLSUnavailable.init)
                try self.shakeHands(over: channel, client.get(), since: connected)
            } catch {
                self.end(.failure(error))
            }
        }
    }

    private func shakeHands(over channel: any Channel, _ client: TLSClient, since connected: NIODeadline) throws {
        var handover: HandoverHandler?
        let behind = HandoverHandler { [weak self] result in
            guard let self, let handover else { return }
            if case .failure(let error) = result, client.mayHaveLackedRoot(error), !self.isWithAllRoots {
                return self.runWithAllRoots()
            }
            self.times.tls = Duration(.now() - connected)
            self.end(
                result.mapError(client.explained).map { name in
                    let version = try? channel.pipeline.syncOperations.nioSSL_tlsVersion()
                    return self.connection(over: channel, handover, speaking: name, version.map(\.name))
                })
        }
        handover = behind
        let operations = channel.pipeline.syncOperations
        try operations.addHandler(behind)
        // The handshake begins in here.
        try operations.addHandler(client.handler, position: .before(behind))
        try channel.syncOptions?.setOption(.autoRead, value: true)
    }

    private func runWithAllRoots() {
        isWithAllRoots = true
        cut()
        tls?.readAllRoots()
        if onEnd != nil { run() }
    }

    private func connection(
        over channel: any Channel, _ handover: HandoverHandler, speaking name: String?, _ tlsVersion: String?
    ) -> DialedConnection {
        DialedConnection(
            channel: channel, applicationProtocol: name?.isEmpty == true ? nil : name, address: address,
            dialTimes: times, tlsVersion: tlsVersion, handover: NIOLoopBound(handover, eventLoop: eventLoop))
    }
}

/// The device could not set up its own side of TLS, of which no address knows: with any other it would fail in the same way.
struct TLSUnavailable: Error {
    let reason: any Error
}

extension TLSVersion {
    /// The name of the version, such as `TLSv1.3`.
    fileprivate var name: String {
        switch self {
        case .tlsv1: "TLSv1"
        case .tlsv11: "TLSv1.1"
        case .tlsv12: "TLSv1.2"
        case .tlsv13: "TLSv1.3"
        }
    }
}
