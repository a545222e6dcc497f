import NIOCore
import NIOHTTP2
import Runway

/// The settings of both sides.
extension HTTP2Connection {
    static func protocolHandler(_ settings: WireSettings, window: Int) -> NIOHTTP2Handler {
        var connection = NIOHTTP2Handler.ConnectionConfiguration()
        connection.initialSettings = [
            HTTP2Setting(parameter: .enablePush, value: 0),
            HTTP2Setting(parameter: .initialWindowSize, value: window),
            HTTP2Setting(
                parameter: .maxHeaderListSize,
                value: min(max(1, settings.maximumHeadByteCount), Int(clamping: UInt32.max))),
        ]
        // Some servers send an empty frame now and then; many in a row are an attack.
        connection.maximumSequentialEmptyDataFrames = 8
        connection.maximumBufferedControlFrames = 1000
        // Frames that the server sent before it received the reset of a stream still come.
        connection.maximumRecentlyResetStreams = 1024
        // It would refuse a 204 with a Content-Length; HTTP2Stream compares the lengths instead.
        connection.contentLengthValidation = .disabled
        return NIOHTTP2Handler(mode: .client, frameDelegate: nil, connectionConfiguration: connection)
    }

    func receive(_ settings: HTTP2Settings) {
        guard !isClosed else { return }
        // A connection error for a client (RFC 9113 §6.5.2).
        guard !settings.contains(where: { $0.parameter == .enablePush && $0.value != 0 }) else {
            return violated("its SETTINGS enable server push", .protocolError)
        }
        guard followWindow(in: settings) else {
            return violated("its SETTINGS make a flow-control window larger than 2^31-1", .flowControlError)
        }
        // NIO's handler refuses other values, and a server that takes it back (RFC 8441 §3).
        let enables = settings.contains { $0.parameter == .enableConnectProtocol && $0.value == 1 }
        if enables { allowsTunnels = true }
        if let limit = settings.last(where: { $0.parameter == .maxHeaderListSize })?.value { maximumHeadSize = limit }
        let announcedLimit = settings.last { $0.parameter == .maxConcurrentStreams }?.value
        // If the server sets no limit, ours alone applies.
        guard let limit = announcedLimit ?? (hasSettings ? nil : Int.max) else { return }
        hasSettings = true
        pool.limitChanged(id, to: min(limit, max(1, pool.configuration.wire.maximumConcurrentStreams)))
    }

    /// Closes the connection because of a violation that NIO's handler does not detect (RFC 9113 §5.4.1).
    private func violated(_ reason: String, _ code: NIOHTTP2.HTTP2ErrorCode) {
        write(.rootStream, .goAway(lastStreamID: .rootStream, errorCode: code, opaqueData: nil))
        context?.flush()
        abandon(WireError.malformed(reason))
    }
}
