import Foundation

/// Decides which changes of a scope are held, because an earlier one of the same subject is set aside. Pure.
enum ChangeHolds {
    /// The data of one change on which the decision depends.
    struct Change: Sendable {
        var id: UUID
        var subjects: Set<String>
        /// Whether the change is set aside for a reason of its own, and not held.
        var isRefused: Bool
        var isHeld: Bool
        /// Whether the change is being sent, or may have been sent: it is not held any more.
        var isClaimed: Bool
    }

    /// Passes over changes, and over those that depend on them.
    ///
    /// - Parameter changes: The changes of a scope, in their order.
    /// - Returns: The changes that are passed over, and the first other change that waits; `nil` if there is none.
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
