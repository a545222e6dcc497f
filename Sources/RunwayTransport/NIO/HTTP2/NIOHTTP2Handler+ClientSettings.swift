import NIOHTTP2

extension NIOHTTP2Handler {
    /// Creates the handler of a client. The handler sends the client's settings.
    ///
    /// - Parameters:
    ///   - settings: The settings of the transport.
    ///   - window: The initial size of stream windows in bytes.
    ///   - delegate: Receives each frame when it is written.
    convenience init(
        announcing settings: WireSettings, window: Int, reportingTo delegate: (any NIOHTTP2FrameDelegate)?
    ) {
        var connection = ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .initialWindowSize, value: window),
            HTTP2Setting(
                parameter: .maxHeaderListSize,
                value: min(max(1, settings.maximumHeadByteCount), Int(clamping: UInt32.max))),
        ]
        // Some servers occasionally send an empty frame; many in a row are an attack.
        connection.maximumSequentialEmptyDataFrames = 8
        connection.maximumBufferedControlFrames = 1000
        // The server may still send frames for a stream before it receives the reset.
        connection.maximumRecentlyResetStreams = 1024
        // NIO's validation would refuse a 204 with a Content-Length. HTTP2Stream compares the lengths instead.
        connection.contentLengthValidation = .disabled
        self.init(mode: .client, frameDelegate: delegate, connectionConfiguration: connection)
    }
}
