/// A setting with a default in the binary, which a bundle can change.
///
/// ```swift
/// enum Remote {
///     static let nativeOrders = RemoteValue("orders.native", default: true)
/// }
/// ```
public struct RemoteValue<Value: Decodable & Sendable>: Sendable {
    /// The name of the value in the file `values.json` of bundles.
    public let name: String
    /// The value that is used if the bundle that runs has none for this device.
    public let defaultValue: Value

    /// Declares a value.
    ///
    /// - Parameters:
    ///   - name: The name in `values.json`. Two values of one name read the same member.
    ///   - defaultValue: The value of the binary, with which the app must work.
    public init(_ name: String, default defaultValue: Value) { (self.name, self.defaultValue) = (name, defaultValue) }
}
