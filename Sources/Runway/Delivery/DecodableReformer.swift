public import RunwayJSON

/// Decodes a response into a model.
///
/// ```swift
/// let rentals = try manager.fetch(DecodableReformer([Rental].self, at: "data", "list"))
/// ```
public struct DecodableReformer<Value: Decodable & Sendable>: Reformer, Sendable {
    private let path: [String]
    private let decoder: JSONDocumentDecoder

    /// Creates a reformer that decodes one type from each response.
    ///
    /// - Parameters:
    ///   - type: The type of the model.
    ///   - path: The member names that lead from the root of the body to the model. The default is the root.
    ///   - decoder: Decodes keys and dates. The default leaves keys unchanged and reads dates as seconds since
    ///     2001-01-01.
    public init(_ type: Value.Type, at path: String..., decoder: JSONDocumentDecoder = JSONDocumentDecoder()) {
        self.init(type, at: path, decoder: decoder)
    }

    init(_ type: Value.Type, at path: [String], decoder: JSONDocumentDecoder) {
        self.path = path
        self.decoder = decoder
    }

    /// Decodes the model from a response.
    ///
    /// - Throws: `JSONError` if the body is not JSON or has no value at the path; `DecodingError` if the value does not
    ///   match the model's type.
    public func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> Value {
        let value = try path.reduce(rawData.json) { $0[$1] }.require(JSONValue.self)
        return try decoder.decode(Value.self, from: value)
    }
}
