/// Values that stages attach to a request, a response or a call, each under its own key.
///
/// A stage declares the key in its own folder, together with a property of ``Request``, ``Response`` or ``Flight``.
struct StageValues: Sendable {
    /// An array is used because messages have at most three values. A search in it is faster than in a dictionary.
    private var values: [(key: ObjectIdentifier, value: any Sendable)] = []

    /// The value under a key, or the key's default if no stage has attached one.
    subscript<Key: StageValueKey>(key: Key.Type) -> Key.Value {
        get {
            // Most messages have no attached values.
            if values.isEmpty { return Key.defaultValue }
            guard let found = values.first(where: { $0.key == ObjectIdentifier(key) }) else { return Key.defaultValue }
            guard let value = found.value as? Key.Value else { preconditionFailure("a key has values of its own type") }
            return value
        }
        set {
            values.removeAll { $0.key == ObjectIdentifier(key) }
            values.append((ObjectIdentifier(key), newValue))
        }
    }
}

/// The key of a value that a stage attaches to a request, a response or a call.
protocol StageValueKey {
    associatedtype Value: Sendable
    /// The value if no stage has attached one.
    static var defaultValue: Value { get }
}
