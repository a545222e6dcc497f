import Foundation

/// Decides which changes of a scope are held, because an earlier one of the same subject is set aside. Pure.
enum ChangeHolds {
    /// What the decision depends on, of one change.
    struct Change: Sendable {
        var id: UUID
        var subjects: Set<String>
        /// Whether it is set aside for a reason of its own, and not held.
        var isRefused: Bool
        var isHeld: Bool
        /// Whether it is being sent, or may have been: it is not held any more.
        var isClaimed: Bool
    }

    /// Passes over changes, and over what depends on them.
    ///
    /// - Parameter changes: The changes of a scope, in their order.
    /// - Returns: What is passed over, and the first change after that which waits; `nil` if there is none.
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

    /// Returns the changes to hold and those to release, so that exactly the dependent ones are held.
    ///
    /// - Parameter changes: The changes of a scope, in their order.
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
