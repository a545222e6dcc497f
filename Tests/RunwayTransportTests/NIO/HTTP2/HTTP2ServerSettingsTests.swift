import NIOHTTP2
import Testing

@testable import RunwayTransport

/// What SETTINGS and WINDOW_UPDATE frames of a server change.
struct HTTP2ServerSettingsTests {
    private static let maximumWindow = 0x7FFF_FFFF
    private static let noWindows: [HTTP2SendWindow] = []

    @Test func onlyFirstSettingsLiftLimitsTheyLack() throws {
        var settings = HTTP2ServerSettings()
        let first = try settings.receive([], windows: Self.noWindows)
        #expect(first.maximumHeaderListSize == Int.max && first.maximumConcurrentStreams == Int.max)
        let limit = HTTP2Setting(parameter: .maxConcurrentStreams, value: 7)
        let second = try settings.receive([limit], windows: Self.noWindows)
        #expect(second.maximumHeaderListSize == nil && second.maximumConcurrentStreams == 7)
    }

    @Test func laterSettingsLeaveTunnelsAllowed() throws {
        var settings = HTTP2ServerSettings()
        _ = try settings.receive([HTTP2Setting(parameter: .enableConnectProtocol, value: 1)], windows: Self.noWindows)
        _ = try settings.receive([], windows: Self.noWindows)
        #expect(settings.allowsTunnels)
    }

    @Test func initialSizeCountsForOpenStreams() throws {
        var window = HTTP2SendWindow()
        try window.grant(Self.maximumWindow - 65_535, initialSize: 65_535)
        var settings = HTTP2ServerSettings()
        let larger = [HTTP2Setting(parameter: .initialWindowSize, value: 65_536)]
        #expect(throws: HTTP2Violation.self) { try settings.receive(larger, windows: [window]) }
        window.sentByteCount = 1
        #expect(throws: Never.self) { try settings.receive(larger, windows: [window]) }
    }

    @Test func invalidIncrementsAreViolations() {
        var window = HTTP2SendWindow()
        #expect(throws: HTTP2Violation.self) { try window.grant(0, initialSize: 65_535) }
        #expect(throws: HTTP2Violation.self) { try window.grant(Self.maximumWindow, initialSize: 65_535) }
    }
}
