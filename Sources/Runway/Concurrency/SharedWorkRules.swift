/// How many calls may share work, and what happens at the limits.
struct SharedWorkRules: Sendable {
    /// What becomes of one who asks for work that has as many members as it may have.
    enum Crowding { case beginsAnother, isRefused }
    /// What becomes of work that nobody waits for any more.
    enum Abandonment { case isCancelled, isCompleted }

    /// The most works that can be joined at a time; one more is begun for whoever asks, and joined by nobody.
    var maximumListed: Int
    /// The most members of one work; less than one is one.
    var maximumMembers: Int
    /// What becomes of one member more.
    var crowding: Crowding
    /// What becomes of work that the last has left.
    var abandonment: Abandonment
}
