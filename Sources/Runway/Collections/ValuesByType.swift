import Synchronization

/// Holds one value of each type, created at its first use and retained as long as this object. Targets that depend on
/// this one use it to share state among the calls of one layer.
package final class ValuesByType: Sendable {
    /// Guards the values by type. The lock is held while a value is created, so only one is created.
    private let values = Mutex<[ObjectIdentifier: any Sendable]>([:])

    package init() {}

    /// Returns the value of a type. Creates the value at the first use.
    ///
    /// - Parameters:
    ///   - type: The type of the value.
    ///   - create: Creates the value. It must return immediately, and must not use this object.
    package func value<Value: Sendable>(of type: Value.Type, create: () -> Value) -> Value {
        values.withLock { values in
            if let value = values[ObjectIdentifier(type)] as? Value { return value }
            let value = create()
            values[ObjectIdentifier(type)] = value
            return value
        }
    }
}
