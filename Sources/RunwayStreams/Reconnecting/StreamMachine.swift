import Runway

/// Decides when a stream connects, checks whether its connection is dead, drops it, and reconnects. Callers pass times
/// and random numbers. A pure state machine, except for the shared memory of the layer's networks.
///
/// Event streams and WebSockets use it. The caller performs the returned actions, calls ``tick(at:activity:)`` at
/// ``deadline``, and reports how connections open and end. It reports received bytes when the machine asks.
struct StreamMachine: Sendable {
    enum Action: Sendable, Equatable {
        case connect
        /// Close the connection, or stop opening it.
        case disconnect(LinkEnd)
        /// Ask the server for a heartbeat on the connection, if possible.
        case probe
        /// End the stream, with an error or because the app or the server ended it.
        case end(NetworkError?)

        static func == (lhs: Action, rhs: Action) -> Bool {
            switch (lhs, rhs) {
            case (.connect, .connect), (.probe, .probe): true
            case (.disconnect(let one), .disconnect(let other)): one == other
            case (.end(let one), .end(let other)): one?.kind == other?.kind
            default: false
            }
        }
    }

    /// The times at which bytes arrived on a connection.
    struct Activity: Sendable, Equatable {
        var last: Duration
        /// The longest time between two bytes since the last report, without the current silence.
        var longestSilence = Duration.zero
        /// Whether reading is paused because the reader of the events is slow. Silence then proves nothing.
        var isHeld = false
    }

    private struct Link {
        let openTime: Duration
        let network: String
        var lastReceived: Duration
        let quietLimit: Duration
        /// The interval of heartbeats; `nil` if the server sends none.
        let heartbeat: Duration?
        /// The time at which the connection has to be replaced; `nil` if there is no such time.
        let endTime: Duration?
        /// The time at which a connection is dropped if the server has not reported by then how the connection
        /// continues the previous one; `nil` once the server has reported it.
        var openingDeadline: Duration?
        var probe: Probe?
    }

    private struct Probe {
        let start: Duration
        let deadline: Duration
        /// The silence because of which the server was asked for a heartbeat (the probe); `nil` if the probe had
        /// another cause.
        let silence: Duration?
    }

    private enum Phase {
        case idle, connecting, offline, paused, ended
        case open(Link)
        case waiting(until: Duration)
    }

    private let options: StreamOptions
    private var random: any RandomNumberGenerator & Sendable
    private var phase = Phase.idle
    private var backoff: Backoff
    private var retry = Duration.zero
    private let heartbeats: HeartbeatMemory
    private let heartbeatBounds: HeartbeatLearner.Bounds
    private var heartbeatLimit: Duration?
    private var network: String
    private var isReachable: Bool

    init(
        _ options: StreamOptions, network: String = "", isReachable: Bool = true,
        heartbeats: HeartbeatMemory = HeartbeatMemory(),
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.options = options
        backoff = Backoff(base: options.backoff, longest: options.maximumBackoff)
        self.heartbeats = heartbeats
        heartbeatBounds = HeartbeatLearner.Bounds(options)
        self.network = network
        self.isReachable = isReachable
        self.random = random
    }

    var state: StreamState {
        switch phase {
        case .idle: .idle
        case .connecting: .connecting
        case .offline: .offline
        case .paused: .paused
        case .ended: .ended
        case .open: .open
        case .waiting: .waiting
        }
    }

    /// Whether the open connection may be dead: no byte has arrived since the server was asked for a heartbeat, or the
    /// device has no network.
    var isSuspected: Bool {
        guard case .open(let link) = phase else { return false }
        return link.probe != nil || !isReachable
    }

    /// The time of the next call of ``tick(at:activity:)``; `nil` if nothing is scheduled.
    var deadline: Duration? {
        switch phase {
        case .waiting(let instant): return instant
        case .open(let link):
            let silent = link.openingDeadline ?? link.probe?.deadline ?? (link.lastReceived + link.quietLimit)
            return link.endTime.map { min($0, silent) } ?? silent
        case .idle, .connecting, .offline, .paused, .ended: return nil
        }
    }

    var wantedHeartbeat: Duration { heartbeats.interval(on: network, limit: heartbeatLimit, heartbeatBounds) }
}

// Events from the app.
extension StreamMachine {
    mutating func start() -> [Action] {
        switch phase {
        case .idle, .ended:
            backoff.reset()
            return connect()
        case .connecting, .offline, .paused, .open, .waiting: return []
        }
    }

    mutating func stop() -> [Action] {
        if case .ended = phase { return [] }
        let isLinked = isLinked
        phase = .ended
        return (isLinked ? [.disconnect(.stopped)] : []) + [.end(nil)]
    }

    /// Closes the connection until the stream is resumed. A stream that has not started yet does not open a connection
    /// until then.
    mutating func pause() -> [Action] {
        switch phase {
        case .ended, .paused: return []
        case .idle, .connecting, .open, .offline, .waiting:
            let isLinked = isLinked
            phase = .paused
            return isLinked ? [.disconnect(.paused)] : []
        }
    }

    /// Opens a paused stream, ends a backoff, and asks the server of an open connection for a heartbeat, since the app
    /// is in the foreground.
    mutating func resume(at now: Duration) -> [Action] {
        switch phase {
        case .paused, .waiting: return connect()
        case .open: return probe(at: now)
        case .idle, .connecting, .offline, .ended: return []
        }
    }

    /// Processes a change of the device's network.
    ///
    /// - Parameters:
    ///   - network: Identifies the network.
    ///   - isReachable: Whether the device has a network.
    ///   - isElsewhere: Whether existing connections may be dead now.
    mutating func networkDidChange(
        to network: String, isReachable: Bool, isElsewhere: Bool, at now: Duration
    ) -> [Action] {
        if isReachable { self.network = network }
        self.isReachable = isReachable
        switch phase {
        case .waiting where !isReachable:
            phase = .offline
            return []
        case .offline where isReachable, .waiting where isElsewhere:
            // Failures on the last network are no evidence about the new one. The delay spreads devices that receive a
            // network at the same time.
            backoff.reset()
            phase = .waiting(until: now + jitter(upTo: options.backoff))
            return []
        case .connecting where isReachable && isElsewhere:
            // The attempt may use a network that no longer exists, and would end only at its deadline.
            backoff.reset()
            phase = .waiting(until: now + jitter(upTo: options.backoff))
            return [.disconnect(.network)]
        case .open where isElsewhere: return probe(at: now)
        case .idle, .connecting, .offline, .paused, .ended, .open, .waiting: return []
        }
    }
}

// Events from connections.
extension StreamMachine {
    mutating func opened(_ facts: LinkFacts, at now: Duration) -> [Action] {
        guard case .connecting = phase else { return [] }
        if let limit = facts.heartbeatLimit { heartbeatLimit = limit }
        // The interval is bounded, so that a server can't prevent the client from detecting dead connections.
        let heartbeat = facts.heartbeat.map { min(max($0, .seconds(1)), max(heartbeatBounds.maximum, .seconds(1))) }
        let quietLimit = heartbeat.map { $0 + StreamOptions.heartbeatMargin } ?? options.quietLimit
        phase = .open(
            Link(
                openTime: now, network: network, lastReceived: now, quietLimit: quietLimit, heartbeat: heartbeat,
                endTime: endTime(of: facts, at: now),
                openingDeadline: facts.statesContinuity ? now + quietLimit + options.probeTimeout : nil))
        return []
    }

    /// Returns the time at which to replace a connection. It is a little before the connection's end, so that no event
    /// is lost, and random, so that clients do not replace their connections together.
    private mutating func endTime(of facts: LinkFacts, at now: Duration) -> Duration? {
        let lifetime = [facts.lifetime, options.maximumLifetime].compactMap { $0 }.min()
        if let renewal = facts.tokenRenewalWindow, lifetime.map({ renewal.lowerBound < now + $0 }) ?? true {
            // If the connection were replaced earlier, the next connection would be opened with the same token, and
            // would also end soon.
            let end = lifetime.map { min(now + $0, renewal.upperBound) } ?? renewal.upperBound
            return max(now + .seconds(1), renewal.lowerBound + jitter(upTo: (end - renewal.lowerBound) / 2))
        }
        return lifetime.map { now + max(.seconds(1), $0 - jitter(upTo: $0 / 10)) }
    }

    /// Records that the server has reported how the open connection continues the previous one.
    mutating func continued() {
        guard case .open(var link) = phase else { return }
        link.openingDeadline = nil
        phase = .open(link)
    }

    mutating func askedToWait(_ retry: Duration) { self.retry = min(max(.zero, retry), StreamOptions.maximumRetry) }

    /// Processes a failed attempt to open a connection, or the end of an open connection without a
    /// ``Action/disconnect(_:)``.
    ///
    /// - Parameters:
    ///   - failure: How the connection ended.
    ///   - activity: The received bytes of a connection that broke while it was open: a proxy may have dropped it
    ///     because of its silence. `nil` if the server ended the connection, or another cause is known.
    ///   - now: The current time.
    mutating func ended(_ failure: LinkFailure, activity: Activity? = nil, at now: Duration) -> [Action] {
        guard isLinked else { return [] }
        switch failure {
        case .final(let error):
            phase = .ended
            return [.end(error)]
        case .suspended:
            phase = .paused
            return []
        case .superseded:
            phase = .waiting(until: now + jitter(upTo: .milliseconds(100)))
            return []
        case .transient(let retryAfter):
            if case .open(var link) = phase, let activity {
                note(activity, of: &link, at: now)
                if let heartbeat = link.heartbeat,
                    now - link.lastReceived >= heartbeat * HeartbeatLearner.sufficientPart
                {
                    heartbeats.failed(heartbeat, on: link.network, at: now, heartbeatBounds)
                }
            }
            fail(at: now, retryAfter: retryAfter)
            return []
        case .untrusted:
            fail(at: now, retryAfter: options.untrustedBackoff)
            return []
        }
    }

    /// Drops a connection that the server no longer knows.
    mutating func forgotten(at now: Duration) -> [Action] {
        guard case .open = phase else { return [] }
        fail(at: now)
        return [.disconnect(.forgotten)]
    }

    /// Processes the passing of ``deadline``, or bytes that arrived after the server was asked for a heartbeat.
    mutating func tick(at now: Duration, activity: Activity?) -> [Action] {
        switch phase {
        case .waiting(let instant): return now >= instant ? connect() : []
        case .open(var link):
            if let activity { note(activity, of: &link, at: now) }
            phase = .open(link)
            if let endTime = link.endTime, now >= endTime {
                // If a server ends its connections soon, the backoff delays the next connection.
                if now - link.openTime < StreamOptions.stableAfter {
                    fail(at: now)
                } else {
                    backoff.reset()
                    phase = .waiting(until: now + jitter(upTo: .milliseconds(100)))
                }
                return [.disconnect(.lifetime)]
            }
            // The connection may have received bytes all the time, so its end is no evidence about silences.
            if let deadline = link.openingDeadline {
                guard now >= deadline else { return [] }
                fail(at: now)
                return [.disconnect(.unopened)]
            }
            if let probe = link.probe {
                guard now >= probe.deadline else { return [] }
                if let heartbeat = link.heartbeat {
                    heartbeats.failed(heartbeat, on: link.network, at: now, heartbeatBounds)
                }
                fail(at: now)
                return [.disconnect(.silent)]
            }
            return now >= link.lastReceived + link.quietLimit ? probe(at: now, after: now - link.lastReceived) : []
        case .idle, .connecting, .offline, .paused, .ended: return []
        }
    }

    private mutating func note(_ activity: Activity, of link: inout Link, at now: Duration) {
        var survived = activity.longestSilence
        let lastReceived = max(link.lastReceived, activity.isHeld ? now : activity.last)
        // A byte that arrived after the server was asked for a heartbeat proves that the connection is alive.
        if let probe = link.probe, lastReceived > probe.start {
            if !activity.isHeld, let silence = probe.silence { survived = max(survived, silence) }
            link.probe = nil
        }
        link.lastReceived = lastReceived
        if let heartbeat = link.heartbeat, survived >= heartbeat * HeartbeatLearner.sufficientPart {
            heartbeats.survived(heartbeat, on: link.network, at: now, heartbeatBounds)
        }
    }

    private var isLinked: Bool {
        switch phase {
        case .connecting, .open: true
        case .idle, .offline, .paused, .ended, .waiting: false
        }
    }

    private mutating func connect() -> [Action] {
        guard isReachable else {
            phase = .offline
            return []
        }
        phase = .connecting
        return [.connect]
    }

    private mutating func probe(at now: Duration, after silence: Duration? = nil) -> [Action] {
        guard case .open(var link) = phase, link.probe == nil else { return [] }
        let deadline = now + options.probeTimeout
        defer { phase = .open(link) }
        // The server can be asked for a heartbeat only when the client knows the id of the connection, which the report
        // of continuity contains. So that report has to arrive within the time of a probe.
        if let openingDeadline = link.openingDeadline {
            link.openingDeadline = min(openingDeadline, deadline)
            return []
        }
        link.probe = Probe(start: now, deadline: deadline, silence: silence)
        return [.probe]
    }

    private mutating func fail(at now: Duration, retryAfter: Duration? = nil) {
        if case .open(let link) = phase, now - link.openTime >= StreamOptions.stableAfter { backoff.reset() }
        let asked = max(retry, min(max(.zero, retryAfter ?? .zero), StreamOptions.maximumRetryAfter))
        backoff.fail(at: now + asked, using: &random)
        phase = isReachable ? .waiting(until: backoff.end) : .offline
    }

    private mutating func jitter(upTo ceiling: Duration) -> Duration {
        ceiling * Double.random(in: 0...1, using: &random)
    }
}
