public import RunwayJSON

/// Makes models, for those who want models.
///
/// ```swift
/// let rentals = try manager.fetch(DecodableReformer([Rental].self, at: "data", "list"))
/// ```
public struct DecodableReformer<Value: Decodable & Sendable>: Reformer, Sendable {
    private let path: [String]
    private let decoder: JSONDocumentDecoder

    /// Makes a reformer.
    ///
    /// - Parameters:
    ///   - type: The model.
    ///   - path: The names of the members that lead from the root of the answer to the model. The default is the root.
    ///   - decoder: Reads keys and dates. The default leaves keys as they are and has dates as seconds since 2001.
    public init(_ type: Value.Type, at path: String..., decoder: JSONDocumentDecoder = JSONDocumentDecoder()) {
        self.path = path
        self.decoder = decoder
    }

    /// Decodes the model.
    ///
    /// - Throws: `JSONError` where the body is not JSON or the path leads nowhere, `DecodingError` where the model does not fit.
    public func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> Value {
        let value = try path.reduce(rawData.json) { $0[$1] }.require(JSONValue.self)
        return try decoder.decode(Value.self, from: value)
    }
}
