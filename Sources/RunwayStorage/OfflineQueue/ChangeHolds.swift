import Foundation

/// Decides which changes of an account are held, because an earlier change with a common subject is set aside.
enum ChangeHolds {
    /// The properties of a change that the decision depends on.
    struct Change: Sendable {
        var id: UUID
        var subjects: Set<String>
        /// Whether the change is set aside for its own reason, and not because it is held.
        var isRefused: Bool
        var isHeld: Bool
        /// Whether the change is in flight, or may have been sent, so that it is no longer held.
        var isClaimed: Bool
    }

    /// Skips changes, and the changes that depend on them.
    ///
    /// - Parameter changes: The changes of a scope (an account of a service), in their order.
    /// - Returns: The skipped changes, and the first waiting change that is not skipped; `nil` if there is none.
    static func pass(_ passed: Set<UUID>, in changes: [Change]) -> (skipped: Set<UUID>, next: UUID?) {
        var (skipped, subjects): (Set<UUID>, Set<String>) = ([], [])
        for change in changes where !change.isRefused && !change.isHeld {
            guard passed.contains(change.id) || !change.subjects.isDisjoint(with: subjects) else {
                return (skipped, change.id)
            }
            skipped.insert(change.id)
            subjects.formUnion(change.subjects)
        }
        return (skipped, nil)
    }

    /// Returns which changes have to be held and which have to be released. Afterwards, exactly the changes that depend
    /// on a set-aside change are held.
    ///
    /// - Parameter changes: The changes of a scope (an account of a service), in their order.
    static func update(_ changes: [Change]) -> (hold: Set<UUID>, release: Set<UUID>) {
        var blocked: Set<String> = []
        var (hold, release): (Set<UUID>, Set<UUID>) = ([], [])
        for change in changes {
            let depends = !change.subjects.isDisjoint(with: blocked)
            if change.isRefused || depends && !change.isClaimed { blocked.formUnion(change.subjects) }
            if change.isRefused || change.isClaimed { continue }
            if depends, !change.isHeld { hold.insert(change.id) }
            if !depends, change.isHeld { release.insert(change.id) }
        }
        return (hold, release)
    }
}
