import NIOCore
import Runway

/// One dial: performs what its ``DialRace`` wants until an address has proved that it is the host. Lives on its event loop.
final class DialOperation {
    private let origin: Origin
    private let dialer: Dialer
    private let eventLoop: any EventLoop
    private let deadline: NIODeadline
    private let avoided: Set<IPAddress>
    private let promise: EventLoopPromise<DialedConnection>
    private let start = NIODeadline.now()

    private let proxy: ProxyServer?
    /// The host that is dialled: the origin's, or a proxy's.
    private let host: String
    private let port: Int
    private var race = DialRace(HostPlan(), lookup: .never)
    private var attempts: [IPAddress: DialAttempt] = [:]
    /// The looked-up addresses as the system gave them, which may name an interface.
    private var lookedUp: [IPAddress: SocketAddress] = [:]
    private var lookupTime: Duration?
    /// What was dialled so far; a race bounds how many there are.
    private var dialed: [DialedAddress] = []
    private var won: DialedConnection?
    private var failure = DialError(cause: .failed)
    private var isOver = false
    private var deadlineTimer: Scheduled<Void>?
    private var wakeTimer: Scheduled<Void>?

    init(
        _ origin: Origin, with dialer: Dialer, on eventLoop: any EventLoop, deadline: NIODeadline,
        avoiding avoided: Set<IPAddress>, _ promise: EventLoopPromise<DialedConnection>
    ) {
        self.origin = origin
        self.dialer = dialer
        self.eventLoop = eventLoop
        self.deadline = deadline
        self.avoided = avoided
        self.promise = promise
        proxy = dialer.proxies.server(for: origin)
        host = proxy?.host ?? origin.bareHost
        port = proxy?.port ?? origin.port
    }

    func run() {
        if let reason = unusableReason { return end(.unusableOrigin(reason)) }
        deadlineTimer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.end(.timedOut) }
        if let address = IPAddress(host) {
            race = DialRace(HostPlan(order: [address]), lookup: .never)
        } else {
            let listed = proxy == nil ? dialer.hosts?.addresses(of: host, scheme: origin.scheme) ?? [] : []
            let plan = listed.isEmpty ? HostPlan() : dialer.selector.plan(listed, of: host).avoiding(avoided)
            race = DialRace(plan, lookup: listed.isEmpty ? .atOnce : .onTrouble)
        }
        perform(race.start(at: now))
    }

    func cancel() { end(.cancelled) }

    private var now: Duration { Duration(.now() - start) }

    private var unusableReason: String? {
        guard ["http", "https"].contains(origin.scheme), (1...65535).contains(origin.port), !origin.bareHost.isEmpty
        else { return "it is no http or https origin with a host and a port" }
        // Without its brackets, a name would be looked up that no URI can have there (RFC 3986 §3.2.2).
        if origin.host.hasPrefix("["), !origin.bareHost.contains(":") {
            return "its host in brackets is no IPv6 address"
        }
        if let proxy, proxy.host.isEmpty || !(1...65535).contains(proxy.port) {
            return "its proxy \(proxy) has no host or no port that can be"
        }
        return nil
    }

    private func perform(_ actions: [DialRace.Action]) {
        for action in actions {
            switch action {
            case .lookUp: lookUp()
            case .connect(let address): connect(to: address)
            case .wake(let instant): wake(at: instant)
            case .cancel(let address): attempts.removeValue(forKey: address)?.cancel()
            case .measure(let address, let limit): measure(address, for: limit)
            case .note(let event, let address): note(event, address)
            case .succeed: succeed()
            case .fail: fail()
            }
        }
    }

    private func lookUp() {
        dialer.resolver.addresses(of: host, on: eventLoop).assumeIsolated().whenComplete { result in
            if self.isOver { return }
            switch result {
            case .success(let addresses):
                self.lookupTime = self.now
                let known = addresses.compactMap { address in
                    address.ipAddress.flatMap { IPAddress($0) }.map { ($0, address) }
                }
                self.lookedUp = Dictionary(known) { first, _ in first }
                let plan = self.dialer.selector.plan(known.map(\.0).prefix(16).uniqued(), of: self.host)
                self.perform(self.race.lookedUp(plan.avoiding(self.avoided), at: self.now))
            case .failure(let error):
                self.failure.lookupError = error
                self.perform(self.race.lookupFailed(at: self.now))
            }
        }
    }

    private func wake(at instant: Duration) {
        wakeTimer?.cancel()
        wakeTimer = eventLoop.assumeIsolated().scheduleTask(deadline: start + TimeAmount(instant)) {
            self.perform(self.race.woke(at: self.now))
        }
    }

    private func connect(to address: IPAddress) {
        guard var socketAddress = lookedUp[address] ?? (try? SocketAddress(ipAddress: "\(address)", port: port)) else {
            return
        }
        socketAddress.port = port
        dialed.append(DialedAddress("\(address)", at: now))
        let attempt = DialAttempt(
            to: socketAddress, for: origin.bareHost,
            over: origin.scheme == "https" ? dialer.tls : nil,
            through: proxy.map { ProxyHandshake($0, host: origin.bareHost, port: origin.port) }, on: eventLoop
        ) { result in
            self.attempts[address] = nil
            switch result {
            case .success(let connection):
                self.noteDial(connection, address)
                self.won = connection
                self.perform(self.race.secured(address, at: self.now))
            case .failure(let error as TLSUnavailable):
                self.failure.failures.append(DialError.Failure(address: socketAddress, error: error.reason))
                self.end(.failed)
            case .failure(let error):
                self.failure.failures.append(DialError.Failure(address: socketAddress, error: error))
                self.perform(self.race.failed(address, at: self.now))
            }
        }
        attempt.onConnect = { self.perform(self.race.connected(address, at: self.now)) }
        attempts[address] = attempt
        attempt.run()
    }

    /// Lets an attempt that did not win go on for a while, to learn how long it takes.
    private func measure(_ address: IPAddress, for limit: Duration) {
        guard let attempt = attempts.removeValue(forKey: address) else { return }
        attempt.onConnect = nil
        let timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(limit)) {
            attempt.cancel()
            self.note(.failed, address)
        }
        attempt.redirect { result in
            timer.cancel()
            switch result {
            case .success(let connection):
                self.noteDial(connection, address)
                attempt.cut()
            case .failure: self.note(.failed, address)
            }
        }
    }

    private func noteDial(_ connection: DialedConnection, _ address: IPAddress) {
        // A proxy's part says nothing of the proxy.
        let roundTrip = proxy == nil ? connection.roundTrip : connection.dialTimes.tcp
        if let roundTrip { note(.dialed(roundTrip: roundTrip), address) }
    }

    private func note(_ event: HostEvent, _ address: IPAddress) {
        // An address that is the host itself has no others to be compared with.
        if IPAddress(host) == nil { dialer.selector.note(event, of: address, of: host) }
    }

    private func succeed() {
        guard var connection = won else { return }
        close()
        connection.dialTimes.dns = lookupTime
        connection.dialed = dialed
        if proxy == nil, let address = connection.address.ipAddress.flatMap({ IPAddress($0) }), IPAddress(host) == nil {
            connection.report = AddressReport(
                address: address, host: host, selector: dialer.selector, hosts: dialer.hosts)
        }
        promise.succeed(connection)
    }

    private func fail() {
        close()
        promise.fail(failure)
    }

    /// Ends the dial before the race has.
    private func end(_ cause: DialError.Cause) {
        if isOver { return }
        failure.cause = cause
        perform(race.end(at: now))
    }

    private func close() {
        isOver = true
        won = nil
        deadlineTimer?.cancel()
        wakeTimer?.cancel()
    }
}

extension Sequence where Element: Hashable {
    /// The elements without those that came before.
    fileprivate func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
