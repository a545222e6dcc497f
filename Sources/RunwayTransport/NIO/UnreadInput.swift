import Foundation
import NIOCore

extension Channel {
    /// How often what waits to be read is read before a peer counts as one that never stops sending. The rounds are 1
    /// ms apart.
    private static var maximumRounds: Int { 100 }

    /// Calls `write` once the channel has read all that came so far: at once if nothing waits in the system's buffer.
    /// On the loop.
    ///
    /// What came before a request is no response to it (RFC 9112 §9.2). The handlers read it before the request is
    /// written, and close the channel for it. Over TLS it may be a message of TLS itself, after which the connection is
    /// as good as before. A peer that never stops sending gets no request: then the channel is closed because of
    /// ``WireError/unsolicited``, and `write` is not called.
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
