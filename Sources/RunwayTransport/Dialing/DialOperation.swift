import NIOCore
import NIOSSL
import Runway

/// One dial: looks the host up and tries its addresses until one has proved that it is the host. Lives on its event loop.
final class DialOperation {
    private let origin: Origin
    private let dialer: Dialer
    private let eventLoop: any EventLoop
    private let deadline: NIODeadline
    private let promise: EventLoopPromise<DialedConnection>

    private var isOver = false
    private var timer: Scheduled<Void>?
    private var attempt: DialAttempt?
    private var lookupTime: Duration?
    private var failure = DialError(cause: .failed)

    init(
        _ origin: Origin, with dialer: Dialer, on eventLoop: any EventLoop, deadline: NIODeadline,
        _ promise: EventLoopPromise<DialedConnection>
    ) {
        self.origin = origin
        self.dialer = dialer
        self.eventLoop = eventLoop
        self.deadline = deadline
        self.promise = promise
    }

    func run() {
        guard ["http", "https"].contains(origin.scheme), (1...65535).contains(origin.port), !origin.host.isEmpty else {
            return fail(.unusableOrigin("it is no http or https origin with a host and a port"))
        }
        timer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.fail(.timedOut) }
        if let address = origin.literalAddress { return tryAddresses([address], named: nil) }
        let start = NIODeadline.now()
        dialer.resolver.addresses(of: origin.host, on: eventLoop).assumeIsolated().whenComplete { result in
            if self.isOver { return }
            self.lookupTime = Duration(.now() - start)
            switch result {
            case .success(let addresses): self.tryAddresses(addresses, named: self.origin.host)
            case .failure(let error):
                self.failure.lookupError = error
                self.fail(.failed)
            }
        }
    }

    func cancel() { fail(.cancelled) }

    private func tryAddresses(_ addresses: [SocketAddress], named name: String?) {
        guard var address = addresses.first else { return fail(.failed) }
        address.port = origin.port
        let context = origin.scheme == "https" ? dialer.tls.context(on: eventLoop) : nil
        let attempt = DialAttempt(to: address, named: name, over: context, on: eventLoop) { result in
            switch result {
            case .success(var connection):
                connection.dialTimes.dns = self.lookupTime
                self.succeed(connection)
            case .failure(let error):
                self.failure.failures.append(DialError.Failure(address: address, error: error))
                self.tryAddresses(Array(addresses.dropFirst()), named: name)
            }
        }
        self.attempt = attempt
        attempt.run()
    }

    private func succeed(_ connection: DialedConnection) {
        isOver = true
        attempt = nil
        timer?.cancel()
        promise.succeed(connection)
    }

    private func fail(_ cause: DialError.Cause) {
        if isOver { return }
        isOver = true
        timer?.cancel()
        attempt?.cancel()
        attempt = nil
        failure.cause = cause
        promise.fail(failure)
    }
}

extension Origin {
    /// The address that the host itself is, where it is no name.
    var literalAddress: SocketAddress? {
        let text = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
        return try? SocketAddress(ipAddress: text, port: port)
    }
}
