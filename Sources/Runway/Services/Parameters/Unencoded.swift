/// Marks a stored property of an endpoint that is not one of its parameters: it is in the path, in the body, or nowhere.
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
    /// The value.
    public var wrappedValue: Value

    /// Wraps a value.
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }

    /// Encodes nothing.
    public func encode(to encoder: any Encoder) {}
}

extension KeyedEncodingContainer {
    /// Encodes nothing. A synthesised `encode(to:)` chooses this over the container's own, so that no member is created.
    public mutating func encode<Value>(_ value: Unencoded<Value>, forKey key: Key) {}
}

/// A value that the parameter encoder leaves out, whatever it wraps.
protocol UnencodedParameter {}
