import HTTPTypes
import Runway
import RunwayTesting
import RunwayTransport
import Testing

/// Input that is not HTTP/2, or too much of it: each ends in one error, and unaffected calls continue (RFC 9113).
@Suite(.timeLimit(.minutes(10)))
struct HTTP2MisbehaviourTests {
    /// What a server writes for a request on stream 1.
    struct Misdeed: Sendable, CustomStringConvertible {
        let description: String
        let frames: [RawFrame]
        var kinds: Set<String> = ["invalidResponse"]
    }

    static let misdeeds: [Misdeed] = [
        Misdeed(description: "no status", frames: [.headers(1, rawBlock([("a", "b")]), isLast: true)]),
        Misdeed(description: "two statuses", frames: [.headers(1, [0x88, 0x88], isLast: true)]),
        Misdeed(
            description: "status behind a field", frames: [.headers(1, rawBlock([("a", "b")]) + [0x88], isLast: true)]),
        Misdeed(
            description: "invalid status", frames: [.headers(1, rawBlock([(":status", "abc")]), isLast: true)]),
        Misdeed(
            description: "unknown pseudo field", frames: [.headers(1, [0x88] + rawBlock([(":b", "c")]), isLast: true)]),
        Misdeed(description: "capital letters", frames: [.headers(1, [0x88] + rawBlock([("Ab", "c")]), isLast: true)]),
        Misdeed(description: "blank in a name", frames: [.headers(1, [0x88] + rawBlock([("a b", "c")]), isLast: true)]),
        Misdeed(
            description: "line end in a value",
            frames: [.headers(1, [0x88] + rawBlock([("a", "b\r\nc: d")]), isLast: true)]),
        Misdeed(
            description: "field of a connection",
            frames: [.headers(1, [0x88] + rawBlock([("connection", "close")]), isLast: true)]),
        Misdeed(description: "switching protocols", frames: [.headers(1, rawBlock([(":status", "101")]))]),
        Misdeed(
            description: "interim response that is the end",
            frames: [.headers(1, rawBlock([(":status", "103")]), isLast: true)]),
        Misdeed(
            description: "content of a response that has none",
            frames: [.headers(1, rawBlock([(":status", "204")])), .data(1, "ghost")]),
        Misdeed(description: "body before the head", frames: [.data(1, "early")]),
        Misdeed(
            description: "body shorter than said",
            frames: [.headers(1, [0x88] + rawBlock([("content-length", "9")])), .data(1, "five!")]),
        Misdeed(
            description: "body longer than said",
            frames: [.headers(1, [0x88] + rawBlock([("content-length", "2")])), .data(1, "five!")]),
        Misdeed(
            description: "two lengths",
            frames: [
                .headers(1, [0x88] + rawBlock([("content-length", "5"), ("content-length", "6")])), .data(1, "five!"),
            ]),
        Misdeed(
            description: "length with a sign",
            frames: [.headers(1, [0x88] + rawBlock([("content-length", "+5")])), .data(1, "five!")]),
        Misdeed(
            description: "length below nothing",
            frames: [.headers(1, [0x88] + rawBlock([("content-length", "-5")])), .data(1, "five!")]),
        Misdeed(
            description: "length of nothing",
            frames: [.headers(1, [0x88] + rawBlock([("content-length", "")])), .data(1, "five!")]),
        Misdeed(
            description: "trailers that are not the end",
            frames: [.headers(1), .headers(1, rawBlock([("a", "b")])), .data(1, "x")]),
        Misdeed(description: "broken compression", frames: [.headers(1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])]),
        Misdeed(description: "invalid index", frames: [.headers(1, [0xC6])]),
        Misdeed(description: "response to a stream that is not open", frames: [.headers(77)]),
        Misdeed(description: "response on a stream of the server", frames: [.headers(2)]),
        Misdeed(description: "body on no stream", frames: [RawFrame(.data, flags: RawFrame.endStream, [1])]),
        Misdeed(
            description: "push",
            frames: [RawFrame(.pushPromise, flags: RawFrame.endHeaders, stream: 1, RawFrame.number(2) + RawFrame.ok)]),
        Misdeed(description: "settings of a wrong size", frames: [RawFrame(.settings, [1, 2, 3])]),
        Misdeed(description: "settings of a stream", frames: [RawFrame(.settings, stream: 1)]),
        Misdeed(description: "window of a wrong size", frames: [.settings([4: 0x8000_0000])]),
        Misdeed(description: "frame size that may not be", frames: [.settings([5: 100])]),
        Misdeed(description: "push that is enabled", frames: [.settings([2: 1])]),
        Misdeed(
            description: "window update of nothing on a stream whose request was sent",
            frames: [RawFrame(.windowUpdate, stream: 1, RawFrame.number(0))]),
        Misdeed(
            description: "window beyond its bound of a stream whose request was sent",
            frames: Array(repeating: RawFrame(.windowUpdate, stream: 1, RawFrame.number(0x4000_0000)), count: 2)),
        Misdeed(
            description: "settings that open a window beyond its bound",
            frames: [
                RawFrame(.windowUpdate, stream: 1, RawFrame.number(0x7FFF_0000)), .settings([4: 65_536]),
            ]),
        Misdeed(
            description: "length without a body",
            frames: [
                .headers(1, [0x88] + rawBlock([("content-length", "5")]), isLast: true)
            ]),
        Misdeed(description: "ping of a wrong size", frames: [RawFrame(.ping, [1])]),
        Misdeed(description: "window update of nothing", frames: [RawFrame(.windowUpdate, RawFrame.number(0))]),
        Misdeed(
            description: "window beyond its bound",
            frames: Array(repeating: RawFrame(.windowUpdate, RawFrame.number(0x7FFF_FFFF)), count: 2)),
        Misdeed(
            description: "continuation of nothing",
            frames: [RawFrame(.continuation, flags: RawFrame.endHeaders, stream: 1, RawFrame.ok)]),
        Misdeed(
            description: "head that is interrupted",
            frames: [RawFrame(.headers, stream: 1, RawFrame.ok), .data(1, "x")]),
        Misdeed(
            description: "frame larger than allowed",
            frames: [.headers(1), RawFrame(.data, stream: 1, [UInt8](repeating: 1, count: 16_385))]),
        Misdeed(
            description: "padding larger than its frame",
            frames: [.headers(1), RawFrame(.data, flags: 8, stream: 1, [200, 1])]),
    ]

    static let floods: [Misdeed] = [
        Misdeed(
            description: "head without bound",
            frames: [
                .headers(1, [0x88] + (0..<12).flatMap { rawBlock([("a\($0)", String(repeating: "x", count: 1000))]) })
            ]),
        Misdeed(
            description: "head of a thousand fields",
            frames: [.headers(1, [0x88] + (0..<1000).flatMap { rawBlock([("a\($0)", "b")]) })]),
        Misdeed(
            description: "continuations",
            frames: [RawFrame(.headers, stream: 1, RawFrame.ok)]
                + Array(repeating: RawFrame(.continuation, stream: 1, rawBlock([("a", "b")])), count: 1000)),
        Misdeed(
            description: "empty continuations",
            frames: [RawFrame(.headers, stream: 1, RawFrame.ok)]
                + Array(repeating: RawFrame(.continuation, stream: 1), count: 1000)),
        Misdeed(
            description: "pings",
            frames: Array(repeating: RawFrame(.ping, [UInt8](repeating: 1, count: 8)), count: 5000)),
        Misdeed(description: "settings", frames: Array(repeating: .settings([4: 70_000]), count: 5000)),
        Misdeed(
            description: "empty parts",
            frames: [.headers(1)] + Array(repeating: .data(1, "", isLast: false), count: 5000)),
        Misdeed(
            description: "interim responses",
            frames: Array(repeating: .headers(1, rawBlock([(":status", "103")])), count: 5000)),
    ]

    @Test(arguments: misdeeds + floods)
    func isRefusedAndTheNextCallSucceeds(misdeed: Misdeed) async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers) else { return }
            if connection.number == 1, frame.stream == 1 {
                connection.write(misdeed.frames.flatMap(\.bytes))
            } else {
                connection.write(.headers(frame.stream), .data(frame.stream, "fine"))
            }
        } _: { server in
            var wire = WireSettings()
            wire.maximumHeadByteCount = 8 << 10
            wire.streamWindowByteCount = 128 << 10
            let network = try server.layer(wire, idleTimeout: .seconds(20))
            let error = try await network.failure(of: Fetch<POST>("a"))
            #expect(misdeed.kinds.contains(error.kind.name), "\(error)")
            #expect(try await network.call(Fetch<GET>("b")).text == "fine")
        }
    }

    @Test func aLengthBeyondAllMemoryTakesNone() async throws {
        struct Boundless: Endpoint {
            static let service = TestService.self
            static let maximumResponseByteCount = Int.max
            var path: EndpointPath { "a" }
        }
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers) else { return }
            let length = rawBlock([("content-length", "999999999999999999")])
            connection.write(.headers(frame.stream, [0x88] + length), .data(frame.stream, "short"))
        } _: { server in
            let error = try await server.layer().failure(of: Boundless())
            #expect(error.kind == .invalidResponse)
        }
    }
}
