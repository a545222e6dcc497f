import NIOCore
import Runway

/// One dial. It performs the decisions of its ``DialRace`` on its event loop, until a connection to the host is ready.
final class DialOperation {
    /// The maximum number of listed IPv4 addresses that are passed to the resolver, since each lookup may occupy a
    /// thread.
    private static let maximumLiterals = 4

    private let origin: Origin
    private let dialer: Dialer
    private let eventLoop: any EventLoop
    private let deadline: NIODeadline
    private let avoided: Set<IPAddress>
    private let promise: EventLoopPromise<DialedConnection>
    private let start = NIODeadline.now()

    private let route: ProxySettings.Route
    private var proxy: ProxyServer? { route.proxy }
    /// Whether the proxy forwards requests instead of opening a tunnel: most proxies open no tunnel for plain `http`
    /// (RFC 9112 §3.2.2).
    private let isForwarded: Bool
    /// The host to dial: the origin's host or the proxy's host.
    private let host: String
    private let port: Int
    /// The host's listed IPv4 addresses, which are looked up in addition to its name. On a network without IPv4,
    /// Apple's resolver translates them into IPv6 addresses (NAT64).
    private let literals: [IPAddress]
    private var race: DialRace
    /// The attempts that have not ended. After the race, attempts continue only to be measured.
    private var attempts: [IPAddress: DialAttempt] = [:]
    /// The results of the lookup as the system returned them, since they may contain an interface scope.
    private var lookedUp: [IPAddress: SocketAddress] = [:]
    private var lookupTime: Duration?
    /// The dialled addresses. The race limits their number.
    private var dialed: [DialedAddress] = []
    private var failure = DialError(cause: .failed)
    private var deadlineTimer: Scheduled<Void>?
    private var wakeTimer: Scheduled<Void>?

    init(
        _ origin: Origin, with dialer: Dialer, on eventLoop: any EventLoop, deadline: NIODeadline,
        avoiding avoided: Set<IPAddress>, carrying purpose: Dialer.Purpose,
        _ promise: EventLoopPromise<DialedConnection>
    ) {
        self.origin = origin
        self.dialer = dialer
        self.eventLoop = eventLoop
        self.deadline = deadline
        self.avoided = avoided
        self.promise = promise
        route = dialer.proxies.route(to: origin)
        let proxy = route.proxy
        isForwarded = proxy?.kind == .http && origin.scheme == "http" && purpose == .requests
        host = proxy?.host ?? origin.bareHost
        port = proxy?.port ?? origin.port
        if let address = IPAddress(host) {
            // The host is itself an address. On a network without IPv4, its own lookup already returns a translated
            // address.
            literals = []
            race = DialRace(HostPlan(order: [address]), lookup: address.family == .v4 ? .onFailure : .never)
        } else {
            let listed = proxy == nil ? dialer.hosts?.addresses(of: host, scheme: origin.scheme) ?? [] : []
            literals = Array(listed.lazy.filter { $0.family == .v4 }.prefix(Self.maximumLiterals))
            let plan = listed.isEmpty ? HostPlan() : dialer.selector.plan(listed, of: host).avoiding(avoided)
            race = DialRace(plan, lookup: listed.isEmpty ? .atOnce : .onFailure)
        }
    }

    func run() {
        if let reason = unusableReason { return end(.unusableOrigin(reason)) }
        deadlineTimer = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.end(.timedOut) }
        perform(race.start(at: now))
    }

    func cancel() { end(.cancelled) }

    private var now: Duration { Duration(.now() - start) }

    private var unusableReason: String? {
        guard ["http", "https"].contains(origin.scheme), (1...65535).contains(origin.port), !origin.bareHost.isEmpty
        else { return "it is no http or https origin with a host and a port" }
        // If brackets were removed from a name, a host would be looked up that no URI can contain (RFC 3986 §3.2.2).
        if origin.host.hasPrefix("["), !origin.bareHost.contains(":") {
            return "its host in brackets is no IPv6 address"
        }
        if case .unusable(let reason) = route { return reason }
        if let proxy, proxy.host.isEmpty || !(1...65535).contains(proxy.port) {
            return "its proxy \(proxy) has an empty host or an invalid port"
        }
        return nil
    }

    /// Ends the dial before the race has ended.
    private func end(_ cause: DialError.Cause) {
        if race.isOver { return }
        failure.cause = cause
        perform(race.end(at: now))
    }

    /// Performs the actions of the race.
    ///
    /// - Parameter winner: The connection that has just become ready. The default is `nil`.
    private func perform(_ actions: [DialRace.Action], winner: DialedConnection? = nil) {
        for action in actions {
            switch action {
            case .lookUp: lookUp()
            case .connect(let address): connect(to: address)
            case .wake(let instant): wake(at: instant)
            case .cancel(let address): attempts.removeValue(forKey: address)?.cancel()
            case .measure(let address, let limit): attempts[address]?.limit(to: limit)
            case .note(let event, let address): note(event, address)
            case .succeed:
                guard let winner else { preconditionFailure("a race was won without a connection") }
                succeed(with: winner)
            case .fail:
                cancelTimers()
                promise.fail(failure)
            }
        }
    }

    private func succeed(with winner: DialedConnection) {
        cancelTimers()
        var connection = winner
        connection.wire.dns = lookupTime
        connection.wire.dialed = dialed
        if isForwarded { connection.forwardProxy = proxy }
        if proxy == nil, let address = connection.address.ipAddress.flatMap({ IPAddress($0) }), IPAddress(host) == nil {
            connection.report = AddressReport(
                address: address, host: host, selector: dialer.selector, hosts: dialer.hosts)
        }
        promise.succeed(connection)
    }

    private func cancelTimers() {
        deadlineTimer?.cancel()
        wakeTimer?.cancel()
    }
}

extension DialOperation {
    private func lookUp() {
        let lookups = ([host] + literals.map { "\($0)" }).map { dialer.resolver.addresses(of: $0, on: eventLoop) }
        EventLoopFuture.whenAllComplete(lookups, on: eventLoop).assumeIsolated().whenSuccess { results in
            // On networks with IPv4, looking up an address returns it unchanged.
            let translated = results.dropFirst().flatMap { Self.known((try? $0.get()) ?? []) }
                .filter { !self.literals.contains($0.0) }
            switch results[0] {
            case .success(let addresses): self.lookedUp(Self.known(addresses).prefix(16) + translated)
            case .failure(let error):
                self.failure.lookupError = error
                if !translated.isEmpty { return self.lookedUp(translated) }
                self.perform(self.race.lookupFailed(at: self.now))
            }
        }
    }

    private static func known(_ addresses: [SocketAddress]) -> [(IPAddress, SocketAddress)] {
        addresses.compactMap { address in address.ipAddress.flatMap { IPAddress($0) }.map { ($0, address) } }
    }

    private func lookedUp(_ known: [(IPAddress, SocketAddress)]) {
        lookupTime = now
        lookedUp = Dictionary(known) { first, _ in first }
        let plan = dialer.selector.plan(known.map(\.0).prefix(32).uniqued(), of: host)
        perform(race.lookedUp(plan.avoiding(avoided), at: now))
    }

    private func wake(at instant: Duration) {
        wakeTimer?.cancel()
        wakeTimer = eventLoop.assumeIsolated().scheduleTask(deadline: start + TimeAmount(instant)) {
            self.perform(self.race.timerFired(at: self.now))
        }
    }

    private func connect(to address: IPAddress) {
        guard var socketAddress = lookedUp[address] ?? (try? SocketAddress(ipAddress: "\(address)", port: port)) else {
            preconditionFailure("\(address) is no address of a socket")
        }
        socketAddress.port = port
        dialed.append(DialedAddress("\(address)", at: now))
        let target = DialAttempt.Target(
            address: socketAddress, host: origin.bareHost, tls: origin.scheme == "https" ? dialer.tls : nil,
            tunnel: isForwarded ? nil : proxy.map { ProxyHandshake($0, host: origin.bareHost, port: origin.port) })
        let attempt = DialAttempt(to: target, on: eventLoop) { self.handle($0, of: address, socketAddress) }
        attempts[address] = attempt
        attempt.run()
    }

    private func handle(_ event: DialAttempt.Event, of address: IPAddress, _ socketAddress: SocketAddress) {
        if case .connected = event { return perform(race.connected(address, at: now)) }
        guard let attempt = attempts.removeValue(forKey: address) else {
            preconditionFailure("an attempt ended twice, or after its cancellation")
        }
        switch event {
        case .connected: break
        case .established(let connection):
            // With a proxy, only the TCP handshake measures a round trip.
            let roundTrip = proxy == nil ? connection.roundTrip : connection.wire.tcp
            if let roundTrip { note(.dialed(roundTrip: roundTrip), address) }
            if race.isOver { return attempt.cut() }
            perform(race.secured(address, at: now), winner: connection)
        case .failed(let error):
            if race.isOver { return note(.failed, address) }
            let unavailable = error as? TLSUnavailable
            failure.failures.append(DialError.Failure(address: socketAddress, error: unavailable?.reason ?? error))
            if unavailable == nil { perform(race.failed(address, at: now)) } else { end(.failed) }
        case .timedOut: note(.failed, address)
        }
    }

    private func note(_ event: HostEvent, _ address: IPAddress) {
        // A host that is itself an address has no other addresses to be compared with.
        if IPAddress(host) == nil { dialer.selector.note(event, of: address, of: host) }
    }
}

extension HostPlan {
    /// Returns the plan with the `avoided` addresses behind all other addresses that have not failed recently.
    fileprivate func avoiding(_ avoided: Set<IPAddress>) -> HostPlan {
        guard let first = order.first, avoided.contains(first) else { return self }
        var plan = self
        plan.order = order.filter { !avoided.contains($0) } + order.filter { avoided.contains($0) }
        // The stagger, the delay before the second address, does not apply, since it was computed for another first
        // address.
        if plan.order.first != first { plan.stagger = nil }
        return plan
    }
}

extension Sequence where Element: Hashable {
    fileprivate func uniqued() -> [Element] {
        var seen: Set<Element> = []
        return filter { seen.insert($0).inserted }
    }
}
