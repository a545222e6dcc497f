import Observation

/// Tells the observers of a manager what they read of it, and what changes.
///
/// A manager is generic, and key paths into a generic class are made anew at every use, which takes several microseconds each.
/// Those into this class are constants.
@MainActor
final class ManagerSigns: Observable {
    /// What can be observed: the names alone, since the manager holds the values.
    var flights: Void { () }
    var answer: Void { () }
    var error: Void { () }
    var landed: Void { () }

    private let registrar = ObservationRegistrar()

    /// Reads a value that stands behind a sign.
    func reading<Value>(_ sign: KeyPath<ManagerSigns, Void>, _ read: () -> Value) -> Value {
        registrar.access(self, keyPath: sign)
        return read()
    }

    /// Changes a value that stands behind a sign.
    func changing(_ sign: KeyPath<ManagerSigns, Void>, _ change: () -> Void) {
        begin(sign)
        change()
        end(sign)
    }

    /// Something that stands behind a sign is about to change.
    func begin(_ sign: KeyPath<ManagerSigns, Void>) { registrar.willSet(self, keyPath: sign) }

    /// It has changed.
    func end(_ sign: KeyPath<ManagerSigns, Void>) { registrar.didSet(self, keyPath: sign) }
}
