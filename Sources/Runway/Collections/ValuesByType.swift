import Synchronization

/// One value of each type, created at its first use: state that targets above the layer share among the calls of one
/// layer.
///
/// There are as many values as types that ask, and they exist as long as this object.
package final class ValuesByType: Sendable {
    /// Guards the values by their types. A value is created while it is held, so that there is only one.
    private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

    /// Creates an empty collection.
    package init() {}

    /// Returns the value of a type, or creates it.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - create: Creates it. It must return at once, and not use this object.
    package func value<Value: Sendable>(of type: Value.Type, create: () -> Value) -> Value {
        values.withLock { values in
            if let value = values[ObjectIdentifier(type)] as? Value { return value }
            let value = create()
            values[ObjectIdentifier(type)] = value
            return value
        }
    }
}
