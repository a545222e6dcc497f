import Foundation
import HTTPTypes
import NIOCore
import Runway
import RunwayDigest

/// The opening handshake of a client, over HTTP/1.1 (RFC 6455 §4.1) or on an HTTP/2 stream (RFC 8441 §5). It creates
/// the request, and decides whether the response opens a WebSocket. It performs no I/O.
struct WebSocketHandshake {
    /// The negotiated subprotocol and extension.
    struct Outcome: Equatable {
        var subprotocol: String?
        var deflate: DeflateAgreement?

        var agreement: WebSocketAgreement { WebSocketAgreement(subprotocol: subprotocol, extensions: deflate?.text) }
    }

    private let offer: WebSocketOffer
    /// 16 random bytes in base64.
    private let key: String

    /// Prepares the handshake request for an offer.
    ///
    /// - Parameters:
    ///   - offer: The subprotocols and the extension to offer.
    ///   - nonce: 16 bytes that no other handshake uses.
    /// - Throws: ``WebSocketProblem/invalidOffer(_:)`` if a subprotocol is not a token or is repeated, or if the window
    ///   size is invalid.
    init(_ offer: WebSocketOffer, nonce: [UInt8]) throws(WebSocketProblem) {
        guard offer.subprotocols.allSatisfy({ HTTPField.Name($0) != nil }),
            Set(offer.subprotocols).count == offer.subprotocols.count
        else { throw .invalidOffer("the name of a subprotocol is invalid or repeated") }
        if let bits = offer.deflate?.serverWindowBits, !(8...15).contains(bits) {
            throw .invalidOffer("the window of the server has from 8 to 15 bits")
        }
        self.offer = offer
        key = Data(nonce).base64EncodedString()
    }

    /// Returns a copy of the fields that has the header fields of the handshake over HTTP/1.1. They replace fields with
    /// the same names.
    func fields(_ fields: HTTPFields) -> HTTPFields {
        var fields = streamFields(fields)
        fields[.connection] = "Upgrade"
        fields[.upgrade] = "websocket"
        fields[.secWebSocketKey] = key
        return fields
    }

    /// Returns a copy of the fields that has the header fields of the handshake on an HTTP/2 stream. They replace
    /// fields with the same names.
    func streamFields(_ fields: HTTPFields) -> HTTPFields {
        var fields = fields
        fields[.connection] = nil
        fields[.upgrade] = nil
        fields[.secWebSocketKey] = nil
        fields[.secWebSocketVersion] = "13"
        fields[.secWebSocketProtocol] = offer.subprotocols.isEmpty ? nil : offer.subprotocols.joined(separator: ", ")
        fields[.secWebSocketExtensions] = offer.deflate.map(DeflateAgreement.text)
        return fields
    }

    /// Validates the head of a response with status 101.
    ///
    /// - Throws: ``WebSocketProblem/handshake(_:)``.
    func outcome(of head: HTTPResponse) throws(WebSocketProblem) -> Outcome {
        let fields = head.headerFields
        guard fields.names("websocket", in: .upgrade) else { throw .handshake("it switches to another protocol") }
        guard fields.names("upgrade", in: .connection) else { throw .handshake("its connection is not upgraded") }
        let accepted = fields[values: .secWebSocketAccept]
        guard accepted.count == 1, accepted[0] == Self.acceptance(of: key) else {
            throw .handshake("its Sec-WebSocket-Accept is not that of the request")
        }
        return try streamOutcome(of: head)
    }

    /// Validates the head of a 2xx response on an HTTP/2 stream.
    ///
    /// - Throws: ``WebSocketProblem/handshake(_:)``.
    func streamOutcome(of head: HTTPResponse) throws(WebSocketProblem) -> Outcome {
        let fields = head.headerFields
        let subprotocols = fields[values: .secWebSocketProtocol]
        guard subprotocols.count <= 1, subprotocols.allSatisfy(offer.subprotocols.contains) else {
            throw .handshake("it chooses a subprotocol that was not offered")
        }
        return Outcome(
            subprotocol: subprotocols.first,
            deflate: try DeflateAgreement.accepted(fields[values: .secWebSocketExtensions], of: offer.deflate))
    }

    /// Returns the value of `Sec-WebSocket-Accept` for a key (RFC 6455 §4.2.2).
    static func acceptance(of key: String) -> String {
        let text = Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8)
        var digest = [UInt8](repeating: 0, count: 20)
        runway_sha1(text, text.count, &digest)
        return Data(digest).base64EncodedString()
    }

    static func makeNonce() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        return (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}
