import Foundation
import NIOCore

extension Channel {
    /// The maximum number of rounds, 1 ms apart, in which pending input is read. A peer that still sends then counts as
    /// never stopping.
    private static var maximumRounds: Int { 100 }

    /// Calls `write` when the channel has read all bytes that have arrived; immediately if the system's buffer is
    /// empty. Call on the event loop.
    ///
    /// Bytes that arrive before a request are not a response to it (RFC 9112 §9.2). The handlers read them before the
    /// request is written, and close the channel because of them. Over TLS, they may be a TLS message, after which the
    /// connection stays usable. For a peer that never stops sending, the channel is closed because of
    /// ``WireError/unsolicited``, and `write` is not called.
    func afterReading(_ write: @escaping () -> Void) { afterReading(rounds: Self.maximumRounds, write) }

    private func afterReading(rounds: Int, _ write: @escaping () -> Void) {
        guard isActive, hasUnreadInput else { return write() }
        guard rounds > 0 else { return pipeline.fireErrorCaught(WireError.unsolicited) }
        eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(1)) {
            self.afterReading(rounds: rounds - 1, write)
        }
    }

    /// Whether the system has unread bytes from the peer, or an unread end of the connection. `false` for a channel
    /// without a socket. Use on the event loop.
    var hasUnreadInput: Bool {
        let isReadable = try? pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            var socket = pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            return poll(&socket, 1, 0) > 0
        }
        return isReadable ?? false
    }
}
