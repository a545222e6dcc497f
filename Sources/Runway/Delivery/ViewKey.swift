/// Names one value in ``ViewData``, and the type of that value.
///
/// Keys are constants in a space of their own, in a file that a view can import without the reformer that sets them:
///
/// ```swift
/// enum PropertyListKeys: ViewKeySpace {
///     static let title = key("title", of: String.self)
/// }
/// ```
public struct ViewKey<Value: Sendable>: Sendable, Hashable {
    /// The name, which begins with the name of the space: equal words in two spaces are two keys.
    public let name: String
    /// The name's hash, computed once.
    @usableFromInline let hash: Int

    fileprivate init(name: String) {
        self.name = name
        hash = name.hashValue
    }
}

/// Groups the keys of one reformer. The name of the conforming type should contain the reformer's.
public protocol ViewKeySpace {}

extension ViewKeySpace {
    /// Names a value of this space.
    ///
    /// - Parameters:
    ///   - word: The word for the value, unique in the space.
    ///   - type: The type of the value.
    public static func key<Value: Sendable>(_ word: String, of type: Value.Type = Value.self) -> ViewKey<Value> {
        ViewKey(name: "\(String(reflecting: Self.self)).\(word)")
    }
}
