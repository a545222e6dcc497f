public import HTTPTypes

/// The message that a signature covers, and the related values from which its components are derived: the "signature
/// context" of RFC 9421 §1.1.
///
/// The request's `scheme` and `authority` must be the ones that the client used. A server behind a proxy therefore sets
/// the public scheme and authority before it creates a context. The request's `path` must be the bytes that were sent,
/// with the query.
public struct SignatureContext: Sendable {
    /// The message that is signed.
    package enum Message: Sendable {
        /// A request is signed.
        case request(HTTPRequest)
        /// A response to the associated request is signed.
        case response(HTTPResponse, to: HTTPRequest)
    }

    /// The message that is signed.
    package let message: Message
    /// The trailer section of the signed message; `nil` if it has no trailer section, or the section has not been
    /// received yet.
    public var trailerFields: HTTPFields?
    /// The trailer section of the request that belongs to a signed response; `nil` if the request has none.
    public var requestTrailerFields: HTTPFields?
    /// The types of structured fields that may be covered with ``ComponentIdentifier/strict``, by lowercase field name.
    public var structuredFieldTypes: [String: StructuredFieldType]

    /// Creates a context for a signed request. By default, the structured fields are those that RFCs define.
    public init(
        _ request: HTTPRequest, trailerFields: HTTPFields? = nil,
        structuredFieldTypes: [String: StructuredFieldType] = StructuredFieldType.registered
    ) {
        message = .request(request)
        self.trailerFields = trailerFields
        self.structuredFieldTypes = structuredFieldTypes
    }

    /// Creates a context for a signed response. The signature may also cover components of its request. By default, the
    /// structured fields are those that RFCs define.
    public init(
        _ response: HTTPResponse, to request: HTTPRequest, trailerFields: HTTPFields? = nil,
        structuredFieldTypes: [String: StructuredFieldType] = StructuredFieldType.registered
    ) {
        message = .response(response, to: request)
        self.trailerFields = trailerFields
        self.structuredFieldTypes = structuredFieldTypes
    }
}

extension StructuredFieldType {
    /// The types of fields that RFCs define as structured.
    public static let registered: [String: StructuredFieldType] = [
        "accept-ch": .list, "accept-signature": .dictionary, "available-dictionary": .item, "cache-status": .list,
        "capsule-protocol": .item, "cdn-cache-control": .dictionary, "client-cert": .item, "client-cert-chain": .list,
        "content-digest": .dictionary, "deprecation": .item, "dictionary-id": .item, "link-template": .list,
        "priority": .dictionary, "proxy-status": .list, "repr-digest": .dictionary, "signature": .dictionary,
        "signature-input": .dictionary, "use-as-dictionary": .dictionary, "want-content-digest": .dictionary,
        "want-repr-digest": .dictionary,
    ]
}
