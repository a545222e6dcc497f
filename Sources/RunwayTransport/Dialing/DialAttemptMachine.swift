import NIOCore
import Runway

/// Decides the steps of one attempt to connect to an address: TCP, the proxy's handshake, TLS. Pure: it opens nothing,
/// and reads no clock.
///
/// ``DialAttempt`` passes every event to the machine and performs the step that is returned. Events after the end of
/// the attempt are ignored: they return `nil` or `false`.
struct DialAttemptMachine {
    /// The step that follows an event.
    enum Next: Equatable {
        /// Ask the proxy for a connection to the host.
        case tunnel
        /// Get the policy that TLS needs.
        case prepareTLS
        /// Report the connection, which is made, with the times of its phases.
        case establish(WireRecord)
    }

    /// The step that follows a failed handshake.
    enum HandshakeFailure: Equatable {
        /// Close the channel, read all roots of the system, and connect again.
        case retryWithAllRoots
        /// Close the channel and report the error.
        case fail
    }

    /// The TCP connection is established.
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
    /// Whether the attempt was repeated with all roots.
    private var isRepeated = false

    init(usesProxy: Bool, usesTLS: Bool) {
        self.usesProxy = usesProxy
        self.usesTLS = usesTLS
    }

    var isEnded: Bool { if case .ended = state { true } else { false } }

    /// Starts the attempt.
    mutating func start(now: NIODeadline) {
        guard case .ready = state else { preconditionFailure("an attempt starts once") }
        state = .connecting(since: now)
    }

    /// Notes that the TCP connection was established.
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

    /// Notes that the proxy forwards bytes to the host from now on, and returns the next step.
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

    /// Notes that the TLS policy is loaded. Returns whether the handshake is to start.
    mutating func prepared() -> Bool {
        switch state {
        case .ended: return false
        case .preparingTLS(let connected):
            state = .handshaking(connected)
            return true
        case .ready, .connecting, .tunnelling, .handshaking: preconditionFailure("prepared while \(state)")
        }
    }

    /// Notes that the handshake is complete. Returns the times of the new connection.
    mutating func secured(now: NIODeadline) -> WireRecord? {
        switch state {
        case .ended: return nil
        case .handshaking(let connected):
            state = .ended
            return WireRecord(tcp: connected.tcp, tls: Duration(now - connected.instant))
        case .ready, .connecting, .tunnelling, .preparingTLS: preconditionFailure("secured while \(state)")
        }
    }

    /// Notes that the handshake failed.
    ///
    /// - Parameter mayLackRoot: Whether the handshake may succeed with the roots that were not read.
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

    /// Ends the attempt: it fails, is cancelled or times out. Returns `false` if it ended before.
    mutating func end() -> Bool {
        if isEnded { return false }
        state = .ended
        return true
    }
}

extension WireRecord {
    /// The record of an attempt.
    ///
    /// - Parameters:
    ///   - tcp: The time from the first packet to the connection.
    ///   - tls: The time from the connection to the end of TLS's handshake, a proxy's handshake included. The default
    ///     is `nil`.
    init(tcp: Duration, tls: Duration? = nil) {
        self.init()
        self.tcp = tcp
        self.tls = tls
    }
}
