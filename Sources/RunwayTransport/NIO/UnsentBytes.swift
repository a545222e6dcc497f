import NIOCore

extension Channel {
    /// Bounds what the system takes from an upload before the network carries it: 128 KiB. Called on the event loop.
    ///
    /// Without a bound, a socket takes megabytes. If the connection breaks, they are lost; until then, they count as sent in the
    /// progress. The bound does not slow the connection down: bytes that are on their way do not count. A system that lacks the
    /// option ignores it.
    func limitUnsentBytes() {
        // TCP_NOTSENT_LOWAT, which no module that is imported here defines.
        #if canImport(Darwin)
            let option = NIOBSDSocket.Option(rawValue: 0x201)
        #else
            let option = NIOBSDSocket.Option(rawValue: 25)
        #endif
        try? syncOptions?.setOption(.tcpOption(option), value: 128 << 10)
    }
}
