/// What lands in the next turn of the main actor, in the order in which it was asked for. However many answers were there at once, as when
/// a whole screen appears anew, one task lands them.
@MainActor
final class LandingTurn {
    /// What one task lands.
    @MainActor
    private final class Group {
        /// The task that asked for it; `nil` where none did.
        let asker: Int?
        /// What is to land. Bounded by the calls: each has one landing in it.
        var due: [@MainActor () -> Void]

        init(_ asker: Int?, _ first: @escaping @MainActor () -> Void) {
            self.asker = asker
            due = [first]
        }
    }

    /// The group that more may join; `nil` where what is asked for next begins one.
    private var open: Group?

    nonisolated init() {}

    /// Has something land in the next turn.
    ///
    /// What lands is told with the task-local values of its `load`, as what flew is. So those of different tasks don't land together, nor
    /// those that have a trace or are part of a refresh: a delegate that makes another call hands that on.
    ///
    /// - Parameter flight: The call that it is the landing of.
    func add(_ flight: Flight, _ land: @escaping @MainActor () -> Void) {
        let asker = withUnsafeCurrentTask { $0?.hashValue }
        let isBound = flight.traceContext != nil || !flight.renewing.isEmpty
        if let open, !isBound, open.asker == asker { return open.due.append(land) }
        let group = Group(asker, land)
        open = isBound ? nil : group
        Task { run(group) }
    }

    private func run(_ group: Group) {
        // What these ask for lands in the turn after this one.
        if open === group { open = nil }
        for land in group.due { land() }
    }
}
