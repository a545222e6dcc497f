import HTTPTypes
import NIOCore
import NIOEmbedded
import Runway

@testable import RunwayTransport

/// Connections of HTTP/2 from the first byte of a server on: NIO's handler, ours behind it, requests of every kind and a stream that
/// carries another protocol in flight.
enum HTTP2ConnectionFuzz {
    private static let configuration = TransportConfiguration()
    private static let dialer = try? Dialer(configuration)

    static func run(_ input: FuzzInput) {
        let ended = ended(input, input.whole)
        check(self.ended(input, input.pieces) == ended, "other requests end where the bytes come in pieces")
    }

    /// Which requests ended before the connection did.
    private static func ended(_ input: FuzzInput, _ pieces: [ArraySlice<UInt8>]) -> [Bool] {
        let channel = EmbeddedChannel()
        guard let dialer, let address = try? SocketAddress(ipAddress: "192.0.2.1", port: 443),
            (try? channel.connect(to: address).wait()) != nil
        else { preconditionFailure("there is no connection") }
        let pool = OriginPool(
            Origin(scheme: "https", host: "h.test", port: 443), on: channel.eventLoop, dialer: dialer, configuration,
            HTTP1Origins(configuration, dialer))
        // Nothing of it is dialled: what is lost here ends.
        pool.shutDown()
        channel.embeddedEventLoop.run()
        let dialed = DialedConnection(
            channel: channel, address: address, wire: WireRecord(),
            handover: NIOLoopBound(HandoverHandler(), eventLoop: channel.eventLoop))
        guard let connection = try? HTTP2Connection(1, dialed, in: pool) else {
            preconditionFailure("there is no connection")
        }
        let exchanges = requests.compactMap { request in
            (try? WireRequestHead(request, isTransparent: false)).map {
                Exchange(request, $0, in: pool, isLongLived: false) { _ in }
            }
        }
        for exchange in exchanges { exchange.start(on: connection, isReused: false) }
        // The frame of settings without a setting, which a server begins with.
        if input.isOn(0) { receive([0, 0, 0, 4, 0, 0, 0, 0, 0], on: channel) }
        var tunnel: (any Channel)?
        if input.isOn(1) {
            // The setting that allows it, with the number 8.
            receive([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1], on: channel)
            let head = try? WireRequestHead(Request(head: connect), isTransparent: false)
            tunnel = head.flatMap { connection.openTunnel($0, to: "websocket") }
            check(tunnel != nil, "no stream of another protocol")
        }
        for piece in pieces { receive(piece, on: channel) }
        let ended = exchanges.map(\.isOver) + [tunnel?.isActive == false]
        _ = try? channel.finish(acceptAlreadyClosed: true)
        check(exchanges.allSatisfy(\.isOver), "a request that outlives its connection")
        check(tunnel?.isActive != true, "a stream that outlives its connection")
        check(connection.isClosed && !connection.isInUse, "a connection that outlives its channel")
        return ended
    }

    private static func receive(_ bytes: some Sequence<UInt8>, on channel: EmbeddedChannel) {
        guard channel.isActive else { return }
        _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
        while (try? channel.readOutbound(as: IOData.self)) != nil {}
    }

    private static let connect = HTTPRequest(method: .connect, scheme: "https", authority: "h.test", path: "/")

    private static let requests: [Request] = {
        func head(_ method: HTTPRequest.Method, _ fields: HTTPFields = [:]) -> HTTPRequest {
            HTTPRequest(method: method, scheme: "https", authority: "h.test", path: "/", headerFields: fields)
        }
        let body = RequestBody.bytes(Array("body".utf8))
        return [
            Request(head: head(.get)), Request(head: head(.head)), Request(head: head(.post), body: body),
            Request(head: head(.post, [.expect: "100-continue"]), body: body),
            Request(head: head(.get), delivery: .streamed),
            Request(head: head(.get), delivery: .whole(maximumByteCount: 16)),
        ]
    }()
}
