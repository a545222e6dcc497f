import HTTPTypes
import Runway

/// The request of a handshake: its head for HTTP/1.1 and its head for an HTTP/2 stream.
struct WebSocketRequest {
    /// The protocol name in an extended CONNECT (RFC 8441 §5).
    static let protocolName = "websocket"

    let offer: WebSocketOffer
    let handshake: WebSocketHandshake
    let head: WireRequestHead
    /// The head for an HTTP/2 stream; `nil` if the request cannot use a stream.
    let streamHead: WireRequestHead?

    /// - Throws: ``WireError/unusableURL(_:)`` or ``WebSocketProblem/invalidOffer(_:)``.
    init(_ request: Request, _ offer: WebSocketOffer, isTransparent: Bool) throws {
        guard request.head.method == .get, request.body.byteCount == 0 else {
            throw WebSocketProblem.invalidOffer("its request is not a GET without a body")
        }
        self.offer = offer
        handshake = try WebSocketHandshake(offer, nonce: WebSocketHandshake.makeNonce())
        var plain = request
        // The body of a refusal is not decoded, so no content coding is accepted.
        if plain.head.headerFields[.acceptEncoding] == nil { plain.head.headerFields[.acceptEncoding] = "identity" }
        var connecting = plain
        plain.head.headerFields = handshake.fields(plain.head.headerFields)
        head = try WireRequestHead(plain, isTransparent: isTransparent)
        guard request.head.scheme?.lowercased() == "https", !plain.head.headerFields.coverMethod else {
            streamHead = nil
            return
        }
        connecting.head.method = .connect
        connecting.head.headerFields = handshake.streamFields(connecting.head.headerFields)
        streamHead = try WireRequestHead(connecting, isTransparent: isTransparent)
    }
}

extension HTTPFields {
    /// Whether signatures cover the method. The request was signed as a GET, and would be a CONNECT on a stream.
    fileprivate var coverMethod: Bool {
        ["Signature-Input", "DPoP", "Runway-Digest", "Runway-Sealed-Key"].contains { name in
            HTTPField.Name(name).map { self[$0] != nil } ?? false
        }
    }
}
