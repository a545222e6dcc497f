/// How many calls may share work, and what happens at the limits.
struct SharedWorkRules: Sendable {
    /// What happens to a call for work that already has its maximum number of members.
    enum OverflowRule { case startsAnother, isRefused }
    /// What happens to work that no member waits for any more.
    enum Abandonment { case isCancelled, isCompleted }

    /// The most works that calls can join at a time. A further one starts unlisted: no other call can join it.
    var maximumListed: Int
    /// The most members of one work; at least 1.
    var maximumMembers: Int
    /// What happens to a call beyond the maximum of members.
    var overflow: OverflowRule
    /// What happens to work that its last member has left.
    var abandonment: Abandonment
}
