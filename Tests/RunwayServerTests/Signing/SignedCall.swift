import AsyncHTTPClient
import Crypto
import HTTPTypes
import NIOCore
import NIOHTTP1
import RunwayJSON
import RunwaySignatures
import Testing

/// A request that is signed and sent; a test changes one thing before the signature, or one after it.
struct SignedCall {
    /// What was received.
    struct Reply {
        let status: Int
        let fields: HTTPFields
        let body: [UInt8]
        let isHTTP2: Bool

        var text: String { String(decoding: body, as: UTF8.self) }
        var problem: JSONValue {
            get throws {
                #expect(fields[.contentType] == "application/problem+json")
                return try JSONDocument(body).root
            }
        }
        var reason: String? { get throws { try problem["reason"].string } }
    }

    var method = HTTPRequest.Method.get
    var path = "/v1/echo/a%2Fb?x=1&x=2&y="
    var authority = "api.example.com"
    var body: [UInt8] = []
    var fields: HTTPFields = [:]
    var key: SigningKey?
    var keyID = "k-1"
    var created = ServerTime.start
    var expires: UnixTime?
    var nonce: String? = "n-\(UInt64.random(in: 0 ... .max))"
    var tag = "app"
    var algorithm: SignatureAlgorithm?
    var covered: [ComponentIdentifier]?

    static func post(_ text: String, to path: String = "/v1/mirror") -> SignedCall {
        SignedCall(method: .post, path: path, body: Array(text.utf8))
    }

    /// The request with its signature.
    func signed() async throws -> HTTPRequest {
        var request = HTTPRequest(
            method: method, scheme: "https", authority: authority, path: path, headerFields: fields)
        if !body.isEmpty { request.headerFields[.contentDigest] = BodyDigest(of: body).fieldValue }
        let components =
            covered ?? [.method, .authority, .path, .query] + (body.isEmpty ? [] : [ComponentIdentifier.contentDigest])
        let parameters = try SignatureParameters(
            components: CoveredComponents(components), created: created, expires: expires, nonce: nonce,
            algorithm: algorithm, keyID: keyID, tag: tag)
        let signature = try await SignatureContext(request).signature(
            parameters, by: try key ?? .hmac(SignedServer.secret))
        request.headerFields.append(signature)
        return request
    }

    /// Signs and sends, with the changes that somebody makes on the way.
    func send(
        to server: SignedServer, body sent: [UInt8]? = nil, changing: (inout HTTPRequest) throws -> Void = { _ in }
    ) async throws -> Reply {
        var request = try await signed()
        try changing(&request)
        return try await server.send(request, body: sent ?? body)
    }
}

extension SignedServer {
    func send(_ request: HTTPRequest, body: [UInt8] = [], streaming: Bool = false) async throws -> SignedCall.Reply {
        var outgoing = HTTPClientRequest(url: url + (request.path ?? ""))
        outgoing.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headerFields { outgoing.headers.add(name: field.name.rawName, value: field.value) }
        if streaming {
            let parts = body.map { ByteBuffer(bytes: [$0]) }
            outgoing.body = .stream(
                AsyncStream { continuation in
                    for part in parts { continuation.yield(part) }
                    continuation.finish()
                }, length: .unknown)
        } else if !body.isEmpty {
            outgoing.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await client.execute(outgoing, timeout: .seconds(120))
        var fields = HTTPFields()
        for (name, value) in response.headers {
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let buffer = try await response.body.collect(upTo: 1 << 24)
        return SignedCall.Reply(
            status: Int(response.status.code), fields: fields, body: Array(buffer.readableBytesView),
            isHTTP2: response.version == .http2)
    }
}
