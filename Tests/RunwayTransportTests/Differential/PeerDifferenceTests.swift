import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Generated exchanges over both transports with servers that others wrote, which `Scripts/peers.sh` starts.
@Suite(.timeLimit(.minutes(60)), .enabled(if: Peer.all != nil))
struct PeerDifferenceTests {
    @Test(arguments: Peer.all ?? [], [true, false])
    func bothTransportsMakeTheSameOfEveryPeer(peer: Peer, usesHTTP2: Bool) async throws {
        let authority = try IntegrationServers().authorityPEM
        let configuration = TransportConfiguration(
            trust: .certificates(pem: [authority]), usesHTTP2: usesHTTP2, connectTimeout: .seconds(60))
        let ours = NetworkLayer(to: peer.baseURL, over: try NIOTransport(configuration: configuration))
        let theirs = NetworkLayer(to: peer.baseURL, over: try AsyncHTTPClientTransport(configuration: configuration))
        let origin = try #require(URLComponents(string: peer.baseURL))
        let place = try #require(origin.host.map { "\($0):\(origin.port ?? 0)" })
        var random = SeededGenerator(seed: 1)
        for index in 0..<DifferenceTests.count {
            let request = peer.kind.request(to: place, scheme: origin.scheme ?? "http", using: &random)
            // Over HTTP/2 AsyncHTTPClient makes up a field that no server sent, as that version has none of the kind (RFC 9113
            // §8.2.2).
            let ignored: Set<HTTPField.Name> = [.date, .transferEncoding]
            let our = await ExchangeOutcome(request, over: ours, ignoring: ignored)
            let their = await ExchangeOutcome(request, over: theirs, ignoring: ignored)
            // A response that comes early may end the connection before AsyncHTTPClient has written what nobody wants any more.
            if request.head.path?.hasPrefix("/early") == true, our.isResponse, !their.isResponse { continue }
            try #require(our == their, "\(peer), exchange \(index): \(request.head) \(request.body.byteCount ?? -1)")
        }
    }
}

/// A server, and what can be asked of it.
struct Peer: Sendable, CustomTestStringConvertible {
    /// What a server has.
    enum Kind: String {
        /// Files.
        case files
        /// The app in Scripts/peers.
        case app
        /// httpbin's paths.
        case httpbin
    }

    let kind: Kind
    let baseURL: String

    var testDescription: String { "\(kind) at \(baseURL)" }

    /// The servers that the environment names: a line for each, its kind and its URL.
    static let all = ProcessInfo.processInfo.environment["RUNWAY_PEERS"].map { text in
        text.split(separator: "\n").compactMap { line -> Peer? in
            let words = line.split(separator: " ")
            guard words.count == 2, let kind = Kind(rawValue: String(words[0])) else { return nil }
            return Peer(kind: kind, baseURL: String(words[1]))
        }
    }
}

extension Peer.Kind {
    /// A request that a server of this kind can respond to.
    ///
    /// None requests a response with the request's fields in their order, in which the transports differ and which has no
    /// meaning (RFC 9110 §5.3), nor httpbin's random bytes, which depend on other calls.
    func request(to authority: String, scheme: String, using random: inout SeededGenerator) -> Request {
        var head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/")
        var body = RequestBody.none
        let content = random.bytes(random.pick([0, 1, 100, 16_384, 65_536, 300_000]))
        let uploads: [RequestBody] = [
            .bytes(content), .stream(BodyStream(content), byteCount: content.count, isReplayable: true),
            .stream(BodyStream(content), byteCount: nil, isReplayable: true),
        ]
        switch self {
        case .files:
            head.path =
                "/"
                + random.pick([
                    "0.bin", "1.bin", "1000.bin", "16384.bin", "65535.bin", "1048577.bin", "text.txt", "none",
                    "iso_4217.json",
                    "iso_639-3.json", "iso_15924.json",
                ])
            head.method = random.pick([.get, .get, .get, .head])
            head.headerFields[.range] = random.pick([nil, nil, "bytes=0-9", "bytes=-5", "bytes=500-", "bytes=9999999-"])
            head.headerFields[.ifNoneMatch] = random.pick([nil, nil, "\"none\"", "*"])
            head.headerFields[.acceptEncoding] = random.pick([nil, nil, "identity"])
        case .app:
            // Over HTTP/2 AsyncHTTPClient 1.37.0 traps on a response that is whole before its request is.
            let path = random.pick(["/echo", "/echo", "/bytes", scheme == "https" ? "/echo" : "/early"])
            let status = random.pick([200, 200, 201, 404, 500])
            let (size, parts) = (random.pick([0, 1, 20_000, 400_000]), random.pick([1, 2, 7]))
            head.path = "\(path)?status=\(status)&bytes=\(size)&parts=\(parts)&length=\(random.pick([0, 1]))"
            head.method = random.pick([.get, .post, .put, .delete, .patch])
            if head.method != .get { body = path == "/early" ? .bytes([1, 2, 3]) : random.pick(uploads) }
        case .httpbin:
            head.path = random.pick([
                "/get?a=1&b=%E4%BB%B7", "/gzip", "/deflate", "/range/5000?chunk_size=100",
                "/status/418", "/status/204", "/status/304", "/encoding/utf8", "/html", "/range/1000",
                "/redirect/1",
            ])
            head.method = .get
            if Int.random(in: 0..<3, using: &random) == 0 {
                (head.method, head.path, body) = (.post, "/post", uploads[Int.random(in: 0...1, using: &random)])
            }
        }
        let isStreamed = Bool.random(using: &random)
        return Request(
            head: head, body: body, delivery: isStreamed ? .streamed : .whole(maximumByteCount: 4 << 20))
    }
}
