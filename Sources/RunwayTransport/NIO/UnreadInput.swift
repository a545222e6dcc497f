import Foundation
import NIOCore

extension Channel {
    /// The number of rounds, 1 ms apart, in which pending input is read before the peer counts as one that never stops
    /// sending.
    private static var maximumRounds: Int { 100 }

    /// Calls `write` once the channel has read all bytes that have arrived: at once if the system's buffer is empty. On
    /// the loop.
    ///
    /// Bytes that arrive before a request are no response to it (RFC 9112 §9.2). The handlers read them before the
    /// request is written, and close the channel because of them. Over TLS they may be a message of TLS itself, after
    /// which the connection is still usable. A peer that never stops sending gets no request: the channel is closed
    /// because of ``WireError/unsolicited``, and `write` is not called.
    func afterReading(_ write: @escaping () -> Void) { afterReading(rounds: Self.maximumRounds, write) }

    private func afterReading(rounds: Int, _ write: @escaping () -> Void) {
        guard isActive, hasUnreadInput else { return write() }
        guard rounds > 0 else { return pipeline.fireErrorCaught(WireError.unsolicited) }
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) {
            self.afterReading(rounds: rounds - 1, write)
        }
    }

    /// Whether the system has bytes of the peer, or its end of the connection, that the channel has not read; `false`
    /// for a channel without a socket. On the loop.
    var hasUnreadInput: Bool {
        let isReadable = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            var socket = pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            return poll(&socket, 1, 0) > 0
        }
        return isReadable ?? false
    }
}
