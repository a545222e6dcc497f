import RunwaySignatures

/// The search for the metadata of one target: a pre-order depth-first walk over delegations (§5.6.7).
///
/// ``next()`` returns the role whose metadata the caller reads and passes to ``visit(_:)``, until one of them has found
/// the target, or no role is left.
package struct TargetSearch: Sendable {
    package let path: String
    /// The target; `nil` until a role lists it.
    package private(set) var target: TargetFile?
    private let maximumVisits: Int
    private var visited: Set<ExactText> = []
    /// The roles to visit, the next one last.
    private var pending: [TargetsRole]

    package init(for path: String, in trusted: TrustedMetadata) {
        (self.path, maximumVisits, pending) = (path, trusted.limits.visitedRoles, [trusted.topLevelTargets])
    }

    /// Returns the next role to visit. Returns `nil` if the target was found, or if no role is left or allowed.
    package mutating func next() -> TargetsRole? {
        while target == nil, visited.count < maximumVisits, let role = pending.popLast() {
            // A role that was visited is skipped, so that cycles end.
            if visited.insert(ExactText(role.name)).inserted { return role }
        }
        return nil
    }

    /// Continues with the accepted metadata of the role that ``next()`` returned.
    package mutating func visit(_ content: TargetsContent) {
        if let target = content.files[ExactText(path)] {
            self.target = target
            return
        }
        guard let keys = content.keys else { return }
        var children: [TargetsRole] = []
        for delegation in content.delegations where delegation.covers(path) {
            children.append(TargetsRole(name: delegation.name, keys: keys, signers: delegation.keys))
            if delegation.isTerminating {
                // No role after a terminating one is searched, neither here nor in the delegating roles.
                pending = []
                break
            }
        }
        pending += children.reversed()
    }
}
