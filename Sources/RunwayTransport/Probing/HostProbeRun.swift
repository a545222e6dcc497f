import NIOCore
import Runway

/// One probe. It looks up the host and connects to all of its addresses at once, on its event loop.
final class HostProbeRun {
    struct Target: Sendable {
        var address: IPAddress
        var source: HostProbeReport.Source
    }

    private let origin: Origin
    private let dialer: Dialer
    private let eventLoop: any EventLoop
    private let timeout: Duration
    private let promise: EventLoopPromise<HostProbeReport>
    private let targets: [Target]
    private let looksUp: Bool
    /// The attempts that have not ended, and the measurements of their addresses so far.
    private var pending: [IPAddress: (attempt: DialAttempt, entry: HostProbeReport.Entry)] = [:]
    private var lookupTimer: Scheduled<Void>?
    private var isLookingUp = false
    private var isOver = false
    private var report: HostProbeReport

    init(
        _ origin: Origin, _ targets: [Target], looksUp: Bool, with dialer: Dialer, on eventLoop: any EventLoop,
        timeout: Duration, _ promise: EventLoopPromise<HostProbeReport>
    ) {
        self.origin = origin
        self.dialer = dialer
        self.eventLoop = eventLoop
        self.timeout = timeout
        self.promise = promise
        self.targets = targets
        self.looksUp = looksUp
        report = HostProbeReport(host: origin.bareHost, port: origin.port, entries: [])
    }

    func start() {
        if looksUp { lookUp() }
        for target in targets { connect(to: target.address, target.source) }
        finishIfDone()
    }

    func cancel() {
        if isOver { return }
        isOver = true
        lookupTimer?.cancel()
        for (attempt, _) in pending.values { attempt.cancel() }
        pending = [:]
        promise.fail(CancellationError())
    }

    private func lookUp() {
        isLookingUp = true
        let start = NIODeadline.now()
        lookupTimer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(timeout)) {
            guard self.isLookingUp, !self.isOver else { return }
            self.isLookingUp = false
            self.report.dnsFailure = "The name was not looked up in time."
            self.finishIfDone()
        }
        dialer.resolver.addresses(of: origin.bareHost, on: eventLoop).assumeIsolated().whenComplete { result in
            guard self.isLookingUp, !self.isOver else { return }
            self.isLookingUp = false
            switch result {
            case .success(let addresses):
                self.report.dns = Duration(.now() - start)
                for address in addresses.compactMap({ $0.ipAddress.flatMap { IPAddress($0) } }) {
                    self.connect(to: address, .dns)
                }
            case .failure(let error):
                self.report.dnsFailure = "The name could not be looked up: \(NetworkError.reason(of: error))."
            }
            self.finishIfDone()
        }
    }

    private func connect(to address: IPAddress, _ source: HostProbeReport.Source) {
        let isKnown = pending[address] != nil || report.entries.contains { $0.address == address }
        guard !isKnown, pending.count + report.entries.count < HostProbe.maximumAddressCount,
            let socketAddress = try? SocketAddress(ipAddress: "\(address)", port: origin.port)
        else { return }
        let entry = HostProbeReport.Entry(address: address, source: source)
        let target = DialAttempt.Target(
            address: socketAddress, host: origin.bareHost, tls: origin.scheme == "https" ? dialer.tls : nil)
        let start = NIODeadline.now()
        let attempt = DialAttempt(to: target, on: eventLoop) { event in
            if case .connected = event {
                self.pending[address]?.entry.tcp = Duration(.now() - start)
            } else {
                self.handle(event, of: address)
            }
        }
        pending[address] = (attempt, entry)
        attempt.limit(to: timeout)
        attempt.run()
    }

    private func handle(_ event: DialAttempt.Event, of address: IPAddress) {
        guard let (attempt, known) = pending.removeValue(forKey: address) else {
            preconditionFailure("an attempt ended twice, or after its cancellation")
        }
        var entry = known
        switch event {
        case .connected: break
        case .established(let connection):
            entry.tcp = connection.wire.tcp
            entry.tls = connection.wire.tls
            entry.tlsVersion = connection.wire.tlsVersion
            entry.applicationProtocol = connection.applicationProtocol
            attempt.cut()
            if let roundTrip = connection.roundTrip { note(.dialed(roundTrip: roundTrip), address) }
        case .failed(let error as TLSUnavailable):
            entry.failure = NetworkError(transport: error.reason, from: origin.bareHost).detail
        case .failed(let error):
            entry.failure = NetworkError(transport: error, from: origin.bareHost).detail
            note(.failed, address)
        case .timedOut:
            entry.failure = entry.tcp == nil ? "No connection was made in time." : "TLS was not set up in time."
            // The timeout may be caused by a slow network. It does not count as a failure, and ranks the address only
            // behind faster ones.
            let event: HostEvent =
                entry.tcp == nil
                ? .silent(for: timeout, isMeasured: false) : .slowerThanWinner(roundTripAbove: timeout / 2)
            note(event, address)
        }
        report.entries.append(entry)
        finishIfDone()
    }

    private func note(_ event: HostEvent, _ address: IPAddress) {
        if IPAddress(origin.bareHost) == nil { dialer.selector.note(event, of: address, of: origin.bareHost) }
    }

    private func finishIfDone() {
        guard !isOver, !isLookingUp, pending.isEmpty else { return }
        isOver = true
        lookupTimer?.cancel()
        promise.succeed(report.sorted)
    }
}
