/// Values that stages attach to a request, a response or a flight, each under a key of its own.
///
/// A stage declares its key, and a property of ``Request``, ``Response`` or ``Flight`` for it, in its own folder.
struct StageValues: Sendable {
    /// One value in an array finds its key sooner than in a dictionary, and messages carry no more than three.
    private var values: [(key: ObjectIdentifier, value: any Sendable)] = []

    /// The value under a key; the default of the key if no stage attached one.
    subscript<Key: StageValueKey>(key: Key.Type) -> Key.Value {
        get {
            // Most messages carry none.
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

/// Identifies a value that a stage attaches to a request, a response or a flight.
protocol StageValueKey {
    /// The type of value that the stage attaches.
    associatedtype Value: Sendable
    /// The value if the stage attached none.
    static var defaultValue: Value { get }
}
