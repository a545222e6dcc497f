import NIOCore
import Runway

/// Decides the steps of one attempt to connect to an address: TCP, the proxy's handshake, TLS. It performs no I/O and
/// reads no clock.
///
/// ``DialAttempt`` passes every event to the machine and performs the returned step. Events after the end of the
/// attempt are ignored: they return `nil` or `false`.
struct DialAttemptMachine {
    /// The step to perform after an event.
    enum Next: Equatable {
        /// Ask the proxy for a tunnel to the host.
        case tunnel
        /// Load the TLS policy.
        case prepareTLS
        /// Report the connection as ready, with the durations of its phases.
        case establish(WireRecord)
    }

    /// The step after a failed handshake.
    enum HandshakeFailure: Equatable {
        /// Close the channel, load all root certificates of the system, and connect again.
        case retryWithAllRoots
        /// Close the channel and report the error.
        case fail
    }

    private struct Connected {
        let instant: NIODeadline
        let tcp: Duration
    }

    private enum State {
        case ready
        case connecting(since: NIODeadline)
        case tunnelling(Connected)
        case preparingTLS(Connected)
        case handshaking(Connected)
        case ended
    }

    private let usesProxy: Bool
    private let usesTLS: Bool
    private var state = State.ready
    private var isRepeated = false

    init(usesProxy: Bool, usesTLS: Bool) {
        self.usesProxy = usesProxy
        self.usesTLS = usesTLS
    }

    var isEnded: Bool { if case .ended = state { true } else { false } }

    mutating func start(now: NIODeadline) {
        guard case .ready = state else { preconditionFailure("an attempt starts once") }
        state = .connecting(since: now)
    }

    mutating func connected(now: NIODeadline) -> Next? {
        switch state {
        case .ended: return nil
        case .connecting(let start):
            let connected = Connected(instant: now, tcp: Duration(now - start))
            guard usesProxy else { return secure(connected) }
            state = .tunnelling(connected)
            return .tunnel
        case .ready, .tunnelling, .preparingTLS, .handshaking: preconditionFailure("connected while \(state)")
        }
    }

    /// Records that the proxy forwards bytes to the host, and returns the next step.
    mutating func tunnelled() -> Next? {
        switch state {
        case .ended: return nil
        case .tunnelling(let connected): return secure(connected)
        case .ready, .connecting, .preparingTLS, .handshaking: preconditionFailure("tunnelled while \(state)")
        }
    }

    private mutating func secure(_ connected: Connected) -> Next {
        if usesTLS {
            state = .preparingTLS(connected)
            return .prepareTLS
        }
        state = .ended
        return .establish(WireRecord(tcp: connected.tcp))
    }

    /// Records that the TLS policy is loaded. Returns whether to start the handshake.
    mutating func prepared() -> Bool {
        switch state {
        case .ended: return false
        case .preparingTLS(let connected):
            state = .handshaking(connected)
            return true
        case .ready, .connecting, .tunnelling, .handshaking: preconditionFailure("prepared while \(state)")
        }
    }

    /// Records that the handshake is complete. Returns the durations of the connection's phases.
    mutating func secured(now: NIODeadline) -> WireRecord? {
        switch state {
        case .ended: return nil
        case .handshaking(let connected):
            state = .ended
            return WireRecord(tcp: connected.tcp, tls: Duration(now - connected.instant))
        case .ready, .connecting, .tunnelling, .preparingTLS: preconditionFailure("secured while \(state)")
        }
    }

    /// Records that the handshake failed.
    ///
    /// - Parameter mayLackRoot: Whether the handshake may succeed with root certificates that were not loaded.
    mutating func handshakeFailed(mayLackRoot: Bool, now: NIODeadline) -> HandshakeFailure? {
        switch state {
        case .ended: return nil
        case .handshaking where mayLackRoot && !isRepeated:
            isRepeated = true
            state = .connecting(since: now)
            return .retryWithAllRoots
        case .handshaking:
            state = .ended
            return .fail
        case .ready, .connecting, .tunnelling, .preparingTLS: preconditionFailure("handshake failed while \(state)")
        }
    }

    /// Ends the attempt after a failure, a cancellation or a timeout. Returns `false` if it had already ended.
    mutating func end() -> Bool {
        if isEnded { return false }
        state = .ended
        return true
    }
}

extension WireRecord {
    /// - Parameters:
    ///   - tcp: The time from the first packet to the TCP connection.
    ///   - tls: The time from the TCP connection to the end of the TLS handshake, including a proxy's handshake. The
    ///     default is `nil`.
    init(tcp: Duration, tls: Duration? = nil) {
        self.init()
        self.tcp = tcp
        self.tls = tls
    }
}
