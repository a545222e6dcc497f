import NIOHTTP2

/// The server's settings that limit its client (RFC 9113 §6.5.2). The client's own settings are in its
/// `NIOHTTP2Handler`.
struct HTTP2ServerSettings {
    /// The limits for later requests, as changed by a SETTINGS frame.
    struct Change {
        /// The maximum size of a request's head (RFC 9113 §6.5.2); `nil` if the frame does not change it.
        let maximumHeaderListSize: Int?
        /// The maximum number of open streams; `nil` if the frame does not change it.
        let maximumConcurrentStreams: Int?
    }

    /// The initial size of the server's stream windows (RFC 9113 §6.9.2).
    private(set) var initialWindowSize = 65_535
    /// Whether the server accepts tunnels for other protocols (extended CONNECT).
    private(set) var allowsTunnels = false
    private var haveCome = false

    /// Applies a SETTINGS frame.
    ///
    /// - Parameters:
    ///   - settings: The settings of the frame.
    ///   - windows: The send windows of the open streams.
    /// - Throws: ``HTTP2Violation`` if the settings enable server push or make a window too large.
    mutating func receive(
        _ settings: HTTP2Settings, windows: some Collection<HTTP2SendWindow>
    ) throws(HTTP2Violation) -> Change {
        // Enabling server push is a connection error (RFC 9113 §6.5.2).
        guard !settings.contains(where: { $0.parameter == .enablePush && $0.value != 0 }) else {
            throw HTTP2Violation("its SETTINGS enable server push", .protocolError)
        }
        for setting in settings where setting.parameter == .initialWindowSize {
            initialWindowSize = setting.value
            guard !windows.contains(where: { $0.exceedsMaximum(initialSize: setting.value) }) else {
                throw HTTP2Violation(
                    "its SETTINGS make a flow-control window larger than 2^31-1", .flowControlError)
            }
        }
        // NIO's handler already refuses other values and a server that revokes the setting (RFC 8441 §3).
        if settings.contains(where: { $0.parameter == .enableConnectProtocol && $0.value == 1 }) {
            allowsTunnels = true
        }
        // The first settings of a connection replace the settings of the previous connection, so an absent setting
        // means no limit.
        let unset: Int? = haveCome ? nil : Int.max
        haveCome = true
        return Change(
            maximumHeaderListSize: settings.last { $0.parameter == .maxHeaderListSize }?.value ?? unset,
            maximumConcurrentStreams: settings.last { $0.parameter == .maxConcurrentStreams }?.value ?? unset)
    }
}
