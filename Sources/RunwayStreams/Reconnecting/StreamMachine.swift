import Runway

/// Decides when a stream connects, suspects its link, drops it and reconnects. Times and random numbers are passed to
/// it; the only shared state is the memory of the layer's networks. Otherwise it is pure.
///
/// Event streams and WebSockets use it. A shell performs the returned actions, calls ``tick(at:activity:)`` at
/// ``deadline``, and reports how links open and end. When the machine asks, the shell reports the time of the last
/// received byte.
struct StreamMachine: Sendable {
    /// An action for the shell.
    enum Action: Sendable, Equatable {
        /// Open a link. No link is open.
        case connect
        /// Close the link, or stop opening it.
        case disconnect(LinkEnd)
        /// Make the server send a heartbeat on the link, if that is possible.
        case probe
        /// The stream has ended: with an error, or because the app or the server ended it.
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

    /// The times of the bytes received on a link.
    struct Activity: Sendable, Equatable {
        /// The time of the last byte.
        var last: Duration
        /// The longest time between two bytes since the last report: a silence that has ended.
        var longestSilence = Duration.zero
        /// Whether reading is paused because the reader of the events is slow: silence then proves nothing about the
        /// link.
        var isHeld = false
    }

    private struct Link {
        let openTime: Duration
        /// The network that the link was opened on.
        let network: String
        var lastReceived: Duration
        /// The time for which the link may be silent.
        let quietLimit: Duration
        /// The interval of the heartbeats; `nil` if the server states none.
        let heartbeat: Duration?
        /// The time at which the link has to be replaced.
        let endTime: Duration?
        /// The time at which the link is dropped unless the server has stated its continuity; `nil` once it has.
        var openingDeadline: Duration?
        var probe: Probe?
    }

    private struct Probe {
        let start: Duration
        let deadline: Duration
        /// The silence that caused the probe; `nil` if another event did.
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
    /// The reconnection time that the server asked for.
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

    /// Whether the open link may be dead: no byte was received since a probe, or the device has no network.
    var isSuspected: Bool {
        guard case .open(let link) = phase else { return false }
        return link.probe != nil || !isReachable
    }

    /// The time of the next call of ``tick(at:activity:)``; `nil` if none is due.
    var deadline: Duration? {
        switch phase {
        case .waiting(let instant): return instant
        case .open(let link):
            let silent = link.openingDeadline ?? link.probe?.deadline ?? (link.lastReceived + link.quietLimit)
            return link.endTime.map { min($0, silent) } ?? silent
        case .idle, .connecting, .offline, .paused, .ended: return nil
        }
    }

    /// The interval of heartbeats that the client asks the server for.
    var wantedHeartbeat: Duration { heartbeats.interval(on: network, limit: heartbeatLimit, heartbeatBounds) }
}

// Actions of the app.
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

    /// Closes the link until the stream is resumed. A stream that is not started yet opens no link until then.
    mutating func pause() -> [Action] {
        switch phase {
        case .ended, .paused: return []
        case .idle, .connecting, .open, .offline, .waiting:
            let isLinked = isLinked
            phase = .paused
            return isLinked ? [.disconnect(.paused)] : []
        }
    }

    /// Opens a paused stream, ends a wait, and probes an open link: the app is in the foreground.
    mutating func resume(at now: Duration) -> [Action] {
        switch phase {
        case .paused, .waiting: return connect()
        case .open: return probe(at: now)
        case .idle, .connecting, .offline, .ended: return []
        }
    }

    /// Notes that the network of the device changed.
    ///
    /// - Parameters:
    ///   - network: A key that distinguishes the network from others.
    ///   - isReachable: Whether the device has a network.
    ///   - isElsewhere: Whether connections that were made before may be dead now.
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
            // Failures on the last network are no evidence about this one. Devices that get a network together do not
            // connect together.
            backoff.reset()
            phase = .waiting(until: now + jitter(upTo: options.backoff))
            return []
        case .connecting where isReachable && isElsewhere:
            // The attempt may use a network that is gone, and would only end at its deadline.
            backoff.reset()
            phase = .waiting(until: now + jitter(upTo: options.backoff))
            return [.disconnect(.network)]
        case .open where isElsewhere: return probe(at: now)
        case .idle, .connecting, .offline, .paused, .ended, .open, .waiting: return []
        }
    }
}

// Events of links.
extension StreamMachine {
    /// Notes that the link is open.
    mutating func opened(_ facts: LinkFacts, at now: Duration) -> [Action] {
        guard case .connecting = phase else { return [] }
        if let limit = facts.heartbeatLimit { heartbeatLimit = limit }
        // A server can't prevent the client from suspecting its links.
        let heartbeat = facts.heartbeat.map { min(max($0, .seconds(1)), max(heartbeatBounds.maximum, .seconds(1))) }
        let quietLimit = heartbeat.map { $0 + StreamOptions.heartbeatMargin } ?? options.quietLimit
        phase = .open(
            Link(
                openTime: now, network: network, lastReceived: now, quietLimit: quietLimit, heartbeat: heartbeat,
                endTime: endTime(of: facts, at: now),
                openingDeadline: facts.statesContinuity ? now + quietLimit + options.probeTimeout : nil))
        return []
    }

    /// Returns the time at which a link has to be replaced: a little before its end, so that no event is lost, and at
    /// another moment than for other clients.
    private mutating func endTime(of facts: LinkFacts, at now: Duration) -> Duration? {
        let lifetime = [facts.lifetime, options.maximumLifetime].compactMap { $0 }.min()
        if let renewal = facts.tokenRenewalWindow, lifetime.map({ renewal.lowerBound < now + $0 }) ?? true {
            // A link before that would be opened with the same token and end soon.
            let end = lifetime.map { min(now + $0, renewal.upperBound) } ?? renewal.upperBound
            return max(now + .seconds(1), renewal.lowerBound + jitter(upTo: (end - renewal.lowerBound) / 2))
        }
        return lifetime.map { now + max(.seconds(1), $0 - jitter(upTo: $0 / 10)) }
    }

    /// Notes that the server has stated how the open link continues the last one.
    mutating func continued() {
        guard case .open(var link) = phase else { return }
        link.openingDeadline = nil
        phase = .open(link)
    }

    /// Notes that the server asks for a time between the end of a link and the next.
    mutating func askedToWait(_ retry: Duration) { self.retry = min(max(.zero, retry), StreamOptions.maximumRetry) }

    /// Notes that the attempt to open a link failed, or the open link ended without a ``Action/disconnect(_:)``.
    ///
    /// - Parameters:
    ///   - failure: The way in which the link ended.
    ///   - activity: The received bytes of an open link that broke: if it was silent then, the silence may have been
    ///     too long for a proxy. `nil` if the server ended the link, or another cause is known.
    ///   - now: The present instant.
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

    /// Drops a link that the server has forgotten.
    mutating func forgotten(at now: Duration) -> [Action] {
        guard case .open = phase else { return [] }
        fail(at: now)
        return [.disconnect(.forgotten)]
    }

    /// Continues at the time of ``deadline``, and when bytes have arrived on a link that was probed.
    mutating func tick(at now: Duration, activity: Activity?) -> [Action] {
        switch phase {
        case .waiting(let instant): return now >= instant ? connect() : []
        case .open(var link):
            if let activity { note(activity, of: &link, at: now) }
            phase = .open(link)
            if let endTime = link.endTime, now >= endTime {
                // A server that ends its links soon is not asked for one link after the other.
                if now - link.openTime < StreamOptions.stableAfter {
                    fail(at: now)
                } else {
                    backoff.reset()
                    phase = .waiting(until: now + jitter(upTo: .milliseconds(100)))
                }
                return [.disconnect(.lifetime)]
            }
            // Bytes may have arrived all the time: the end of this link is no evidence about silences.
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
        // A byte that arrived after the probe began proves that the link is alive.
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
        // The continuity names the link, which can't be probed before: it has to arrive within the time of a probe.
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
