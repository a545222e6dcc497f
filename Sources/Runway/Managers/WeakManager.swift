/// A manager that its calls do not keep alive.
struct WeakManager: Sendable {
    weak var manager: (any APIManaging)?
}
