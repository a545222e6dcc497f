import Synchronization

/// An object of a module that other modules call, by a protocol that both import.
///
/// ```swift
/// var services: [Service] { [Service((any Orders).self) { LiveOrders() }] }
/// ```
///
/// Services are called from every actor. They have no address: no link and no web page reaches one.
public struct Service: Sendable {
    let type: Any.Type
    private let make: @Sendable (Mediator) -> any Sendable
    private let instance = Instance()

    /// Declares a service.
    ///
    /// - Parameters:
    ///   - type: The protocol, as in `(any Orders).self`.
    ///   - make: Is called once, at the first ``Mediator/service(_:)``.
    public init<Interface: Sendable>(_ type: Interface.Type, make: @escaping @Sendable () -> Interface) {
        self.init(type) { _ in make() }
    }

    /// Declares a service that uses services of other modules.
    ///
    /// - Parameters:
    ///   - type: The protocol, as in `(any Orders).self`.
    ///   - make: Is called once, at the first ``Mediator/service(_:)``. The service may store the mediator, and then
    ///     lives as long as the process. Two services that need each other in `make` are a programming error, which
    ///     stops the process.
    public init<Interface: Sendable>(_ type: Interface.Type, make: @escaping @Sendable (Mediator) -> Interface) {
        self.type = type
        self.make = make
    }

    /// Returns the instance, which is made at the first call.
    func instance(in mediator: Mediator) -> any Sendable { instance.value { make(mediator) } }
}

/// One instance of a service.
private final class Instance: Sendable {
    /// Guards the instance; it is locked while the instance is made, so that there is never a second one.
    private let state = Mutex<(any Sendable)?>(nil)
    /// The instances that the current task is making.
    @TaskLocal private static var making: [Instance] = []

    func value(_ make: () -> any Sendable) -> any Sendable {
        precondition(!Self.making.contains { $0 === self }, "a service needs itself while it is made")
        return state.withLock { value in
            if let value { return value }
            let made = Self.$making.withValue(Self.making + [self]) { make() }
            value = made
            return made
        }
    }
}
