/// The name of one value in ``ViewData``, and the type of that value.
///
/// Keys are constants in a space of their own, in a file that a view can have without the reformer that fills them:
///
/// ```swift
/// enum PropertyListKeys: ViewKeySpace {
///     static let title = key("title", of: String.self)
/// }
/// ```
public struct ViewKey<Value: Sendable>: Sendable, Hashable {
    /// The name, which begins with the name of the space: equal words of two spaces are two keys.
    public let name: String
    /// The name's hash, made once.
    @usableFromInline let hash: Int

    fileprivate init(name: String) {
        self.name = name
        hash = name.hashValue
    }
}

/// The keys of one reformer. The name of the conforming type should carry the reformer's.
public protocol ViewKeySpace {}

extension ViewKeySpace {
    /// Makes a key of this space.
    ///
    /// - Parameters:
    ///   - word: The word for the value, once in a space.
    ///   - type: The type of the value.
    public static func key<Value: Sendable>(_ word: String, of type: Value.Type = Value.self) -> ViewKey<Value> {
        ViewKey(name: "\(String(reflecting: Self.self)).\(word)")
    }
}
