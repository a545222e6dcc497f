import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Proxies that refuse, close early or misbehave, over real sockets: one clear error each, before any byte for the host is
/// sent.
@Suite(.timeLimit(.minutes(10)))
struct LyingProxyTests {
    /// What a proxy does, and the expected message.
    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let script: ScriptedPeer.Script
        let reason: String

        init(_ testDescription: String, _ script: ScriptedPeer.Script, _ reason: String) {
            self.testDescription = testDescription
            self.script = script
            self.reason = reason
        }
    }

    private static let yes = Array("HTTP/1.1 200 Fine\r\n\r\n".utf8)

    private static func connectLie(
        _ name: String, _ reply: String, ending: ScriptedPeer.Ending = .nothing, _ reason: String
    ) -> Lie {
        Lie(name, ScriptedPeer.Script(replies: [Array(reply.utf8)], ending: ending), reason)
    }

    static let connectLies: [Lie] = [
        connectLie("dies without a word", "", ending: .close, "it closed the connection"),
        connectLie("closes during its response", "HTTP/1.1 200 Fi", ending: .close, "it closed the connection"),
        connectLie(
            "dies before the end of the head", "HTTP/1.1 200 Fine\r\nVia: x\r\n", ending: .close,
            "it closed the connection"),
        connectLie("wants to know who asks", "HTTP/1.1 407 Who\r\n\r\n", "it wants a name and password"),
        connectLie(
            "responds with a body, and then with garbage", "HTTP/1.1 200 Fine\r\nContent-Length: 2\r\n\r\nok\u{0}\u{1}",
            "it responds before it is asked"),
        connectLie(
            "has a head without end", "HTTP/1.1 200 Fine\r\n",
            ending: .repeating(Array(String(repeating: "Via: x\r\n", count: 1000).utf8)), "it sends more than it may"),
        connectLie(
            "sends interim responses without end", "",
            ending: .repeating(Array(String(repeating: "HTTP/1.1 100 Wait\r\n\r\n", count: 500).utf8)),
            "it sends more than it may"),
        Lie(
            "speaks another protocol before it is asked",
            ScriptedPeer.Script(greeting: Array("220 mail.test ESMTP\r\n\r\n".utf8)), "its response is not HTTP"),
        Lie(
            "responds to this request and the next in advance", ScriptedPeer.Script(greeting: yes + yes),
            "it responds before it is asked"),
    ]

    static let socksLies: [Lie] = [
        Lie("dies without a word", ScriptedPeer.Script(replies: [[]], ending: .close), "it closed the connection"),
        Lie(
            "dies in mid-handshake", ScriptedPeer.Script(replies: [[5, 0], [5, 0, 0, 1]], ending: .close),
            "it closed the connection"),
        Lie(
            "refuses", ScriptedPeer.Script(replies: [[5, 0], [5, 5, 0, 1, 0, 0, 0, 0, 0, 0]]),
            "it refuses to connect: the host refuses"),
        Lie("speaks SOCKS 4", ScriptedPeer.Script(replies: [[0, 90]]), "its response is not SOCKS 5"),
        Lie(
            "changes the version", ScriptedPeer.Script(replies: [[5, 0], [4, 0, 0, 1, 0, 0, 0, 0, 0, 0]]),
            "its response is not SOCKS 5"),
        Lie(
            "wants a method that was not offered", ScriptedPeer.Script(replies: [[5, 2]]),
            "it requires a method of authentication that is not supported"),
        Lie(
            "takes none of the methods", ScriptedPeer.Script(replies: [[5, 255]]),
            "it requires a method of authentication that is not supported"),
        Lie(
            "responds before the request", ScriptedPeer.Script(greeting: [5, 0, 5, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
            "it responds before it is asked"),
        Lie(
            "speaks in the host's place",
            ScriptedPeer.Script(replies: [[5, 0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Array("HTTP/1.1 200 OK\r\n".utf8)]),
            "it responds before it is asked"),
    ]

    private static let connectRequest = Array("CONNECT host.test:7000 HTTP/1.1\r\nHost: host.test:7000\r\n\r\n".utf8)
    private static let socksRequests: [UInt8] = [5, 1, 0, 5, 1, 0, 3, 9] + Array("host.test".utf8) + [0x1B, 0x58]

    /// The error of a call through a proxy, which has lost all its connections by then.
    private func failure(_ scheme: String, through proxy: ScriptedPeer, _ kind: ProxyServer.Kind) async throws
        -> NetworkError
    {
        let server = ProxyServer(kind, host: "127.0.0.1", port: proxy.port)
        var configuration = TransportConfiguration(connectTimeout: .seconds(300))
        configuration.proxies = ProxySettings(https: server, http: server)
        let layer = NetworkLayer(
            to: "\(scheme)://host.test:7000", over: try NIOTransport(configuration: configuration))
        layer.configure(TestService.self) { $0.allowsPlainHTTP = true }
        let error = try await layer.failure(of: Fetch<GET>("a", headers: ["Authorization": "secret"]))
        try await waitUntil("the connections to end") { proxy.isAbandoned }
        #expect(proxy.connectionCount == 1)
        return error
    }

    private func expect(
        _ lie: Lie, _ scheme: String, _ kind: ProxyServer.Kind, received requests: [UInt8]
    ) async throws {
        try await withScriptedPeer(lie.script) { proxy in
            let error = try await failure(scheme, through: proxy, kind)
            #expect(error.kind == .noNetwork && error.sending == .notSent, "\(error)")
            #expect(
                error.detail == "No connection to host.test:7000 could be made: 127.0.0.1: the proxy does not help: "
                    + "\(lie.reason).")
            // Nothing of TLS, and nothing of the request.
            #expect(!proxy.received.isEmpty && requests.starts(with: proxy.received), "\(proxy.received)")
        }
    }

    @Test(arguments: connectLies)
    func aMalformedCONNECTProxyReceivesNothingMore(lie: Lie) async throws {
        try await expect(lie, "https", .http, received: Self.connectRequest)
    }

    @Test(arguments: ["https", "http"], socksLies)
    func aMalformedSOCKSProxyReceivesNothingMore(scheme: String, lie: Lie) async throws {
        try await expect(lie, scheme, .socks5, received: Self.socksRequests)
    }

    @Test func proxyPosingAsTheHostIsNotTrusted() async throws {
        let garbage = Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8)
        try await withScriptedPeer(ScriptedPeer.Script(replies: [Self.yes, garbage])) { proxy in
            let error = try await failure("https", through: proxy, .http)
            #expect(error.kind == .notTrusted && error.sending == .notSent, "\(error)")
            #expect(
                error.detail
                    == "The response of host.test:7000 is not TLS; its port may be one for plain HTTP.")
            expectOnlyTLS(in: proxy)
        }
    }

    @Test func proxyFailureDuringHandshakeIsALostConnection() async throws {
        try await withScriptedPeer(ScriptedPeer.Script(replies: [Self.yes, []], ending: .close)) { proxy in
            let error = try await failure("https", through: proxy, .http)
            #expect(error.kind == .noNetwork && error.sending == .notSent, "\(error)")
            // The system may call it a reset, if the proxy left something unread.
            let reasons = ["it was lost before TLS was set up", "Connection reset by peer", "Broken pipe"]
            let text = "No connection to host.test:7000 could be made: 127.0.0.1: "
            #expect(reasons.contains { error.detail == "\(text)\($0)." }, "\(error)")
            expectOnlyTLS(in: proxy)
        }
    }

    /// Checks that what follows the request for the way to the host is a handshake, and not the request.
    private func expectOnlyTLS(in proxy: ScriptedPeer) {
        let received = proxy.received
        #expect(received.starts(with: Self.connectRequest))
        let handshake = received.dropFirst(Self.connectRequest.count)
        #expect(handshake.first == 22 && handshake.firstRange(of: Array("secret".utf8)) == nil)
    }
}
