/// Names one value in ``ViewData``, and the type of that value.
///
/// Declare the keys as constants of a separate type, their *space*, in a separate file. A view can then import the keys
/// without the reformer that sets their values:
///
/// ```swift
/// enum PropertyListKeys {
///     static let title = ViewKey<String>("title", in: Self.self)
/// }
/// ```
public struct ViewKey<Value: Sendable>: Sendable, Hashable {
    /// The name of the key. It begins with the name of the type that groups the key (its *space*). The same word in two
    /// spaces therefore makes two different keys.
    public let name: String
    /// The hash of the name, computed once.
    @usableFromInline let hash: Int

    /// Creates the key of a value.
    ///
    /// - Parameters:
    ///   - word: The word that names the value. It is unique among the keys of `space`.
    ///   - space: The type that groups the keys of one reformer. Its name should contain the name of the reformer.
    public init(_ word: String, in space: Any.Type) {
        name = "\(String(reflecting: space)).\(word)"
        hash = name.hashValue
    }
}
