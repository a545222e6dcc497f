import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Codings of responses over ``NIOTransport``, whole and as streams, over both versions of HTTP.
@Suite(.timeLimit(.minutes(10)))
struct WireCodingTests {
    enum Version: CaseIterable { case http1, http2 }

    private static let vectors = [
        ("gzip", Coded.gzip, 1), ("x-gzip", Coded.gzip, 1), ("deflate", Coded.deflate, 1),
        ("deflate", Coded.rawDeflate, 1), ("gzip", Coded.gzip + Coded.gzip, 2), ("gzip", [], 0),
    ]

    /// Runs `body` with a layer whose calls of "a" get a coded body.
    private func withResponse(
        _ coded: [UInt8], _ coding: String, over version: Version, _ wire: WireSettings = WireSettings(),
        sinks: [any EventSink] = [], _ body: (NetworkLayer) async throws -> Void
    ) async throws {
        switch version {
        case .http1:
            try await withScriptedOrigin { origin in
                origin.on("/a", respond: .bytes(coded).header(.contentEncoding, coding).framed(.chunked))
                var configuration = TransportConfiguration(connectTimeout: .seconds(300))
                configuration.wire = wire
                try await body(
                    NetworkLayer(
                        to: origin.baseURL, over: NIOTransport(configuration: configuration), sinks: sinks))
            }
        case .http2:
            try await RawHTTP2Server.run { connection, frame in
                guard let frame else { return connection.write(.settings()) }
                if frame.is(.settings), frame.flags & RawFrame.ack == 0 { connection.write(.settingsAck) }
                guard frame.is(.headers) else { return }
                // A field whose name is the static table's 26th, `content-encoding` (RFC 7541 §6.2.2).
                let field = [0x0F, 26 - 15, UInt8(coding.utf8.count)] + Array(coding.utf8)
                connection.write(
                    RawFrame(
                        .headers, flags: RawFrame.endHeaders, stream: frame.stream, RawFrame.ok + field))
                for start in stride(from: 0, to: coded.count, by: 1 << 14) {
                    connection.write(RawFrame(.data, stream: frame.stream, Array(coded[start...].prefix(1 << 14))))
                }
                connection.write(RawFrame(.data, flags: RawFrame.endStream, stream: frame.stream))
            } _: { server in
                try await body(server.layer(wire, sinks: sinks))
            }
        }
    }

    /// What a call fails with, whole and as a stream.
    private func failures(
        _ coded: [UInt8], _ coding: String, over version: Version, _ wire: WireSettings = WireSettings()
    ) async throws -> [NetworkError] {
        var errors: [NetworkError] = []
        try await withResponse(coded, coding, over: version, wire) { network in
            errors.append(try await network.failure(of: Fetch<GET>("a")))
            errors.append(try await network.stream(Fetch<GET>("a")).body.failure())
        }
        return errors
    }

    @Test(arguments: Version.allCases, vectors)
    func codingsAreUndone(version: Version, vector: (coding: String, coded: [UInt8], count: Int)) async throws {
        let text = String(repeating: Coded.text, count: vector.count)
        try await withResponse(vector.coded, vector.coding, over: version) { network in
            let raw = try await network.call(Fetch<GET>("a"))
            #expect(raw.text == text)
            #expect(raw.response.headerFields[.contentEncoding] == nil)
            let stream = try await network.stream(Fetch<GET>("a"))
            #expect(stream.response.headerFields[.contentEncoding] == nil)
            #expect(try await stream.body.text() == text)
        }
    }

    @Test(arguments: Version.allCases) func aBombIsRefusedByItsRatio(version: Version) async throws {
        let bomb = try await Tool.run("/bin/sh", ["-c", "head -c 67108864 /dev/zero | gzip -c"], [])
        for error in try await failures(bomb, "gzip", over: version) {
            #expect(error.kind == .invalidResponse && error.detail.contains("more than 250 times its size"), "\(error)")
        }
    }

    @Test(arguments: Version.allCases) func aBodyIsRefusedByItsSize(version: Version) async throws {
        var wire = WireSettings()
        wire.maximumDecodedByteCount = 1000
        for error in try await failures(Coded.gzip, "gzip", over: version, wire) {
            #expect(error.kind == .invalidResponse && error.detail.contains("more than 1000 bytes"), "\(error)")
        }
    }

    @Test(arguments: Version.allCases) func whatIsBrokenIsRefused(version: Version) async throws {
        let flood = Coded.gzip + [UInt8](repeating: 0, count: ContentDecoder.maximumSurplusByteCount + 1)
        for coded in [Array(Coded.gzip.dropLast(9)), flood, Array("plain".utf8)] {
            for error in try await failures(coded, "gzip", over: version) {
                #expect(error.kind == .invalidResponse && error.detail.contains("compressed body"), "\(error)")
            }
        }
    }

    @Test(arguments: Version.allCases) func ignoredBytesAreRecorded(version: Version) async throws {
        let records = RecordCollector()
        try await withResponse(Coded.gzip + [0, 0, 0], "gzip", over: version, sinks: [records]) { network in
            #expect(try await network.call(Fetch<GET>("a")).text == Coded.text)
            #expect(try await network.stream(Fetch<GET>("a")).body.text() == Coded.text)
            for record in try await records.records(count: 2) {
                #expect(record.decisions(of: SurplusDecision.self) == [SurplusDecision(byteCount: 3)])
            }
        }
    }

    #if Brotli
        @Test(arguments: Version.allCases) func brotliIsUndone(version: Version) async throws {
            let coded = try await Tool.run("/usr/bin/brotli", ["-c"], Array(Coded.text.utf8))
            try await withResponse(coded, "br", over: version) { network in
                #expect(try await network.call(Fetch<GET>("a")).text == Coded.text)
            }
        }
    #endif

    #if Zstd
        @Test(arguments: Version.allCases) func zstdIsUndone(version: Version) async throws {
            let coded = try await Tool.run("/usr/bin/zstd", ["-c"], Array(Coded.text.utf8))
            try await withResponse(coded, "zstd", over: version) { network in
                #expect(try await network.call(Fetch<GET>("a")).text == Coded.text)
            }
        }
    #endif
}
