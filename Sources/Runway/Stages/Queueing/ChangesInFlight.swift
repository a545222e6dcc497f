import Synchronization

/// Makes calls that change the same object wait for one another. If a call fails and is stored, no later call that
/// changes the same object can overtake it.
final class ChangesInFlight: Sendable {
    /// An object that a call changes. Calls that change the same object are sent one after the other.
    struct Subject: Hashable, Sendable {
        let service: ObjectIdentifier
        let account: String?
        let name: String
    }

    private struct Entry {
        let flight: FlightID
        let subjects: Set<Subject>
        /// Resumed when no earlier call changes an object that this call changes, too.
        var continuation: CheckedContinuation<WaitEnd, Never>?
    }

    /// Guards the calls in flight and the waiting calls, in the order in which they entered.
    private let entries = Mutex<[Entry]>([])

    /// The number of calls that are in flight or wait.
    var count: Int { entries.withLock { $0.count } }

    /// Adds a call, and waits until all earlier calls that change the same object have ended. If the wait ends for
    /// another reason, the call is removed again.
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

    func leave(_ flight: FlightID) {
        entries.withLock { $0.removeAll { $0.flight == flight } }
        admit()
    }

    /// Resumes the calls that are no longer blocked by an earlier call.
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
