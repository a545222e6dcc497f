/// Marks a stored property of an endpoint that is not a parameter. The property may be used in the path or in the body,
/// or may not be sent at all.
///
/// ```swift
/// struct RentalDetail: Endpoint {
///     static let service = Listings.self
///     @Unencoded var id: Int
///     var path: EndpointPath { "rental/\(id)" }
/// }
/// ```
@propertyWrapper
public struct Unencoded<Value: Sendable>: Sendable, Encodable, UnencodedParameter {
    /// The value that is not encoded as a parameter.
    public var wrappedValue: Value

    /// Wraps a value so that it is not encoded as a parameter.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Encodes nothing, so that the value does not become a parameter.
    public func encode(to encoder: any Encoder) {}
}

/// Restores the value of a stored call; see ``QueuedChange/call(as:)``.
extension Unencoded: Decodable where Value: Decodable {
    /// Decodes the value of a stored call.
    public init(from decoder: any Decoder) throws {
        // The value is decoded by a container, because JSON decoders treat types such as `URL` differently from the
        // types' own `init(from:)`.
        wrappedValue = try decoder.singleValueContainer().decode(Value.self)
    }
}

extension KeyedEncodingContainer {
    /// Encodes nothing into parameters. A synthesised `encode(to:)` prefers this function to the container's own, so
    /// that no member is created. A call that an offline queue stores includes the value.
    public mutating func encode<Value>(_ value: Unencoded<Value>, forKey key: Key) throws {
        guard StoredCall.isEncoding, let stored = value.wrappedValue as? any Encodable else { return }
        try encode(stored, forKey: key)
    }
}

extension KeyedDecodingContainer {
    /// Decodes an optional value. It may be absent like any other optional property.
    public func decode<Value: Decodable>(_ type: Unencoded<Value?>.Type, forKey key: Key) throws -> Unencoded<Value?> {
        Unencoded(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
    }
}

/// A value that the parameter encoder omits.
protocol UnencodedParameter {}
