/// What lands in the next turn of the main actor, in the order in which it was asked for. However many answers were there at once, as when
/// a whole screen appears anew, one task lands them.
@MainActor
final class LandingTurn {
    /// What is to land. Bounded by the calls: each has one landing in it.
    private var due: [@MainActor () -> Void] = []

    nonisolated init() {}

    /// Has something land in the next turn.
    func add(_ land: @escaping @MainActor () -> Void) {
        due.append(land)
        if due.count == 1 { Task { run() } }
    }

    private func run() {
        let landing = due
        // What these ask for lands in the turn after this one.
        due = []
        for land in landing { land() }
    }
}
