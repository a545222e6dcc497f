import HTTPTypes
import Runway

/// The request of a handshake: its head over HTTP/1.1 and that on a stream of HTTP/2. Pure.
struct WebSocketRequest {
    /// The name of the protocol in an extended CONNECT (RFC 8441 §5).
    static let protocolName = "websocket"

    let offer: WebSocketOffer
    let handshake: WebSocketHandshake
    /// The head over HTTP/1.1.
    let head: WireRequestHead
    /// The head on a stream of HTTP/2; `nil` if the request can't be sent that way.
    let streamHead: WireRequestHead?

    /// - Throws: ``WireError/unusableURL(_:)`` or ``WebSocketProblem/invalidOffer(_:)``.
    init(_ request: Request, _ offer: WebSocketOffer, isTransparent: Bool) throws {
        guard request.head.method == .get, request.body.byteCount == 0 else {
            throw WebSocketProblem.invalidOffer("its request is not a GET without a body")
        }
        self.offer = offer
        handshake = try WebSocketHandshake(offer, nonce: WebSocketHandshake.makeNonce())
        var plain = request
        // A refusal is read as it arrives.
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
    /// Whether the signatures cover the method of the request: it was signed as a GET, and would be a CONNECT on a
    /// stream.
    fileprivate var coverMethod: Bool {
        ["Signature-Input", "DPoP", "Runway-Digest", "Runway-Sealed-Key"].contains { name in
            HTTPField.Name(name).map { self[$0] != nil } ?? false
        }
    }
}
