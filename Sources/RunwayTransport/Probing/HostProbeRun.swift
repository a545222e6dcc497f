import NIOCore
import Runway

/// One probe under way: looks the host up and connects to all of its addresses at once. Lives on its event loop.
final class HostProbeRun {
    private let origin: Origin
    private let dialer: Dialer
    private let eventLoop: any EventLoop
    private let timeout: Duration
    private let promise: EventLoopPromise<HostProbeReport>
    private var known: [(IPAddress, HostProbeReport.Source)]
    private var attempts: [IPAddress: DialAttempt] = [:]
    private var timers: [Scheduled<Void>] = []
    private var isLookingUp = false
    private var isOver = false
    private var report: HostProbeReport

    init(
        _ origin: Origin, _ addresses: [IPAddress], with dialer: Dialer, on eventLoop: any EventLoop, timeout: Duration,
        _ promise: EventLoopPromise<HostProbeReport>
    ) {
        self.origin = origin
        self.dialer = dialer
        self.eventLoop = eventLoop
        self.timeout = timeout
        self.promise = promise
        known = addresses.map { ($0, .given) }
        let listed = dialer.hosts?.addresses(of: origin.bareHost, scheme: origin.scheme) ?? []
        known += listed.map { ($0, .listed) }
        report = HostProbeReport(host: origin.bareHost, port: origin.port, entries: [])
    }

    func start() {
        if let address = IPAddress(origin.bareHost) { known.append((address, .given)) } else { lookUp() }
        for (address, source) in known { connect(to: address, source) }
        finishIfDone()
    }

    func cancel() {
        if isOver { return }
        isOver = true
        for timer in timers { timer.cancel() }
        for attempt in attempts.values { attempt.cancel() }
        attempts = [:]
        promise.fail(CancellationError())
    }

    private func lookUp() {
        isLookingUp = true
        let start = NIODeadline.now()
        after(timeout) {
            guard self.isLookingUp else { return }
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
        let isKnown = attempts[address] != nil || report.entries.contains { $0.address == address }
        guard !isKnown, attempts.count + report.entries.count < HostProbe.maximumAddressCount,
            let socketAddress = try? SocketAddress(ipAddress: "\(address)", port: origin.port)
        else { return }
        var entry = HostProbeReport.Entry(address: address, source: source)
        let start = NIODeadline.now()
        let attempt = DialAttempt(
            to: socketAddress, for: origin.bareHost,
            over: origin.scheme == "https" ? dialer.tls : nil, on: eventLoop
        ) { result in
            switch result {
            case .success(let connection):
                entry.tcp = connection.dialTimes.tcp
                entry.tls = connection.dialTimes.tls
                entry.tlsVersion = connection.tlsVersion
                entry.applicationProtocol = connection.applicationProtocol
                self.attempts[address]?.cut()
                if let roundTrip = connection.roundTrip { self.note(.dialed(roundTrip: roundTrip), address) }
            case .failure(let error as TLSUnavailable):
                entry.failure = NetworkError(transport: error.reason, from: self.origin.bareHost).detail
            case .failure(let error):
                entry.failure = NetworkError(transport: error, from: self.origin.bareHost).detail
                self.note(.failed, address)
            }
            self.end(entry)
        }
        attempt.onConnect = { entry.tcp = Duration(.now() - start) }
        attempts[address] = attempt
        after(timeout) {
            guard self.attempts[address] === attempt else { return }
            attempt.cancel()
            entry.failure = entry.tcp == nil ? "No connection was made in time." : "TLS was not set up in time."
            // It may be dead, or the network as slow as that: so it is no failure, and only those that were quicker go before it.
            let event: HostEvent =
                entry.tcp == nil
                ? .silent(for: self.timeout, isMeasured: false) : .outrun(roundTripAbove: self.timeout / 2)
            self.note(event, address)
            self.end(entry)
        }
        attempt.run()
    }

    private func note(_ event: HostEvent, _ address: IPAddress) {
        if IPAddress(origin.bareHost) == nil { dialer.selector.note(event, of: address, of: origin.bareHost) }
    }

    private func end(_ entry: HostProbeReport.Entry) {
        attempts[entry.address] = nil
        report.entries.append(entry)
        finishIfDone()
    }

    private func after(_ duration: Duration, _ body: @escaping () -> Void) {
        timers.append(eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(duration)) { if !self.isOver { body() } })
    }

    private func finishIfDone() {
        guard !isOver, !isLookingUp, attempts.isEmpty else { return }
        isOver = true
        for timer in timers { timer.cancel() }
        report.entries.sort { ($0.total ?? .seconds(3600)) < ($1.total ?? .seconds(3600)) }
        promise.succeed(report)
    }
}
