/// Names one value in ``ViewData``, and the type of that value.
///
/// Keys are constants of a type of their own, their space, in a file that a view can import without the reformer that
/// sets their values:
///
/// ```swift
/// enum PropertyListKeys {
///     static let title = ViewKey<String>("title", in: Self.self)
/// }
/// ```
public struct ViewKey<Value: Sendable>: Sendable, Hashable {
    /// The name, which begins with the name of the space: equal words in two spaces are two keys.
    public let name: String
    /// The name's hash, computed once.
    @usableFromInline let hash: Int

    /// Names a value of a space.
    ///
    /// - Parameters:
    ///   - word: The word for the value, unique in the space.
    ///   - space: The type that groups the keys of one reformer, whose name it should contain.
    public init(_ word: String, in space: Any.Type) {
        name = "\(String(reflecting: space)).\(word)"
        hash = name.hashValue
    }
}
