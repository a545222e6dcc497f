import Synchronization

/// Has calls that change the same thing follow one another, so that one that fails and is stored is not overtaken by a
/// later one.
final class ChangesInFlight: Sendable {
    /// What two calls must have in common to follow one another.
    struct Subject: Hashable, Sendable {
        let service: ObjectIdentifier
        let account: String?
        let name: String
    }

    private struct Entry {
        let flight: FlightID
        let subjects: Set<Subject>
        /// Resumed when no call before this one has a subject of it.
        var continuation: CheckedContinuation<WaitEnd, Never>?
    }

    /// Guards the calls in flight and those that wait, in the order in which they came.
    private let entries = Mutex<[Entry]>([])

    /// How many calls are in flight or wait.
    var count: Int { entries.withLock { $0.count } }

    /// Enters a call, and waits until all earlier ones with a common subject have left.
    ///
    /// A call for which the wait ends otherwise has left.
    func enter(_ flight: Flight, _ subjects: Set<Subject>) async -> WaitEnd {
        if subjects.isEmpty { return .granted }
        let id = flight.id
        return await flight.wait { continuation in
            entries.withLock { entries in
                let isBlocked = entries.contains { !$0.subjects.isDisjoint(with: subjects) }
                entries.append(
                    Entry(flight: id, subjects: subjects, continuation: isBlocked ? continuation : nil))
                return isBlocked ? nil : .granted
            }
        } leave: { [self] end in
            let waiting = entries.withLock { entries -> CheckedContinuation<WaitEnd, Never>? in
                guard let index = entries.firstIndex(where: { $0.flight == id }),
                    let continuation = entries[index].continuation
                else { return nil }
                entries.remove(at: index)
                return continuation
            }
            guard let waiting else { return }
            waiting.resume(returning: end)
            admit()
        }
    }

    /// The call has ended.
    func leave(_ flight: FlightID) {
        entries.withLock { $0.removeAll { $0.flight == flight } }
        admit()
    }

    /// Resumes the calls that no earlier one blocks any more.
    private func admit() {
        let admitted = entries.withLock { entries in
            var admitted: [CheckedContinuation<WaitEnd, Never>] = []
            var taken: Set<Subject> = []
            for index in entries.indices {
                if let continuation = entries[index].continuation, taken.isDisjoint(with: entries[index].subjects) {
                    admitted.append(continuation)
                    entries[index].continuation = nil
                }
                taken.formUnion(entries[index].subjects)
            }
            return admitted
        }
        for continuation in admitted { continuation.resume(returning: .granted) }
    }
}
