import Foundation

/// Converts the endpoint of a call to JSON, including its ``Unencoded`` properties, so that a later run of the app can
/// restore it.
enum StoredCall {
    /// Whether the current task encodes an endpoint for storage, instead of its parameters.
    @TaskLocal static var isEncoding = false

    private static let floats = (positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")

    /// Returns the JSON of an endpoint. Returns an empty array if the endpoint can't be restored, because it is not
    /// `Decodable` or can't be encoded as JSON.
    static func bytes(of endpoint: any Endpoint) -> [UInt8] {
        guard endpoint is any Decodable else { return [] }
        let encoder = JSONEncoder()
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: floats.positiveInfinity, negativeInfinity: floats.negativeInfinity, nan: floats.nan)
        return $isEncoding.withValue(true) { (try? encoder.encode(endpoint)).map { Array($0) } ?? [] }
    }

    /// Restores an endpoint, or returns `nil` if the JSON does not match its properties.
    static func endpoint<E: Endpoint & Decodable>(_ bytes: [UInt8], as type: E.Type) -> E? {
        let decoder = JSONDecoder()
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: floats.positiveInfinity, negativeInfinity: floats.negativeInfinity, nan: floats.nan)
        return try? decoder.decode(type, from: Data(bytes))
    }
}
