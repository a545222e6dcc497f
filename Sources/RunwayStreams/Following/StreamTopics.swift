import HTTPTypes
import Runway
import Synchronization

/// The topics that a stream wants, and those that its open connection follows. Changes are sent one at a time, in their order.
///
/// No event of a wanted topic is passed by. A link that was asked for without a wanted topic ends before any event of it is passed on, and so
/// does a link whose change of topics failed. The next link is asked for with all wanted topics, and begins where the last one ended.
final class StreamTopics: Sendable {
    /// Sends a change of the topics of a connection to the server.
    typealias Send =
        @Sendable (_ connection: String, _ added: Set<String>, _ removed: Set<String>) async throws(NetworkError)
        -> Void
    typealias Outcome = Result<Void, NetworkError>

    fileprivate struct Change {
        let number: Int
        let added: Set<String>
        let removed: Set<String>
        /// Who waits for the outcome; `nil` if nobody does.
        var waiter: CheckedContinuation<Outcome, Never>?
    }

    fileprivate struct Connection {
        let id: String
        let link: Int
        /// What the server has confirmed.
        var topics: Set<String>
    }

    /// A change that is being sent, without what the connection follows already.
    fileprivate struct Step {
        let number: Int
        let connection: String
        let added: Set<String>
        let removed: Set<String>
    }

    fileprivate struct State {
        var wanted: Set<String>?
        var refused: Set<String> = []
        var connection: Connection?
        /// The last link that ended because of its topics, and how.
        var endedLink = 0
        var end = LinkFailure.superseded
        /// The first one is being sent, if any is.
        var changes: [Change] = []
        var changeCount = 0
        var isSending = false
    }

    private let send: Send
    /// A change failed on a link, which has to be replaced.
    private let onLoss: @Sendable (_ link: Int) -> Void
    /// Guards the topics, the open connection and the changes. No continuation is resumed while it is held.
    private let state: Mutex<State>

    init(_ wanted: Set<String>?, send: @escaping Send, onLoss: @escaping @Sendable (Int) -> Void) {
        state = Mutex(State(wanted: wanted))
        (self.send, self.onLoss) = (send, onLoss)
    }

    /// The topics that are wanted; `nil` if the choice is the server's.
    var wanted: Set<String>? { state.withLock { $0.wanted } }
    /// The wanted topics that the server did not allow when the last connection was opened.
    var refused: Set<String> { state.withLock { $0.refused } }
    /// The id of the open connection; `nil` while no connection is open, and for servers other than Runway's.
    var connection: String? { state.withLock { $0.connection?.id } }

    /// Whether events of a topic are still wanted.
    func wants(_ topic: String) -> Bool { state.withLock { $0.wanted?.contains(topic) ?? true } }

    /// How a link has ended because of its topics; `nil` if it has not.
    func end(of link: Int) -> LinkFailure? { state.withLock { link <= $0.endedLink ? $0.end : nil } }

    /// The server has opened a connection. If it does not have a wanted topic, its link has ended.
    ///
    /// - Parameters:
    ///   - id: Names the connection.
    ///   - link: The number of the link, which is greater than that of every one before it.
    ///   - asked: The topics that the link was asked for.
    ///   - refused: Those of them that the server does not allow.
    func opened(_ id: String, on link: Int, asked: Set<String>?, refused: Set<String>) {
        let starts = state.withLock { state -> Bool in
            guard link > state.endedLink else { return false }
            let asked = asked ?? []
            let wanted = state.wanted ?? asked
            guard wanted.isSubset(of: asked) else {
                (state.endedLink, state.end, state.connection) = (link, .superseded, nil)
                return false
            }
            state.refused = refused.intersection(asked)
            state.connection = Connection(id: id, link: link, topics: asked.subtracting(refused))
            // Topics may have been removed while the link was being opened.
            let removed = asked.subtracting(wanted)
            return removed.isEmpty ? false : state.add(Change(number: state.nextNumber(), added: [], removed: removed))
        }
        if starts { Task { await sendChanges() } }
    }

    /// The link has ended, and nothing reads it any more.
    func closed() { state.withLock { $0.connection = nil } }

    /// Changes the topics, on the open connection if there is one. Then it returns when the server has confirmed the change.
    ///
    /// - Throws: The error of a call that was refused (400, 403), which changes nothing, or that was cancelled.
    func change(adding added: Set<String>, removing removed: Set<String>) async throws(NetworkError) {
        let number = state.withLock { $0.nextNumber() }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let change = Change(number: number, added: added, removed: removed, waiter: waiter)
                let (outcome, starts) = state.withLock { state -> (Outcome?, Bool) in
                    guard let wanted = state.wanted else { return (.failure(.topicsOfTheServer), false) }
                    state.wanted = wanted.union(added).subtracting(removed)
                    state.refused.subtract(removed)
                    // The link that is opened next, or is being opened, has them.
                    if state.connection == nil { return (.success(()), false) }
                    if Task.isCancelled { return (.failure(.cancelledChange), state.add(change.withoutWaiter)) }
                    return (nil, state.add(change))
                }
                if let outcome { waiter.resume(returning: outcome) }
                if starts { Task { await sendChanges() } }
            }
        } onCancel: {
            // The change is sent all the same.
            state.withLock { $0.takeWaiter(number) }?.resume(returning: .failure(.cancelledChange))
        }
        try outcome.get()
    }

    /// Sends changes until none is left.
    private func sendChanges() async {
        while let step = nextStep() {
            var outcome = Outcome.success(())
            do throws(NetworkError) {
                if !step.added.isEmpty || !step.removed.isEmpty {
                    try await send(step.connection, step.added, step.removed)
                }
                state.withLock { $0.confirm(step) }
            } catch {
                if error.isRefusal {
                    outcome = .failure(error)
                    state.withLock { $0.refuse(step) }
                } else {
                    // Whether the server has changed the topics is unknown. The next link has those that are wanted then.
                    if error.kind == .cancelled { outcome = .failure(error) }
                    if let link = state.withLock({ $0.lose(step.connection) }) { onLoss(link) }
                }
            }
            state.withLock { $0.removeChange(step.number) }?.resume(returning: outcome)
        }
    }

    private func nextStep() -> Step? {
        let (step, waiters) = state.withLock { $0.nextStep() }
        for waiter in waiters { waiter.resume(returning: .success(())) }
        return step
    }
}

extension StreamTopics.Change {
    fileprivate var withoutWaiter: Self { Self(number: number, added: added, removed: removed) }
}

extension StreamTopics.State {
    fileprivate mutating func nextNumber() -> Int {
        changeCount += 1
        return changeCount
    }

    /// Adds a change; returns whether the caller has to start to send.
    fileprivate mutating func add(_ change: StreamTopics.Change) -> Bool {
        changes.append(change)
        defer { isSending = true }
        return !isSending
    }

    fileprivate mutating func takeWaiter(_ number: Int) -> CheckedContinuation<StreamTopics.Outcome, Never>? {
        guard let index = changes.firstIndex(where: { $0.number == number }) else { return nil }
        return changes[index].waiter.take()
    }

    fileprivate mutating func removeChange(_ number: Int) -> CheckedContinuation<StreamTopics.Outcome, Never>? {
        defer { changes.removeAll { $0.number == number } }
        return takeWaiter(number)
    }

    /// Returns what is sent next. Without a connection nothing is, and those who wait have what they want with the next link.
    fileprivate mutating func nextStep() -> (StreamTopics.Step?, [CheckedContinuation<StreamTopics.Outcome, Never>]) {
        guard let connection, let change = changes.first else {
            let waiters = changes.compactMap(\.waiter)
            (changes, isSending) = ([], false)
            return (nil, waiters)
        }
        let step = StreamTopics.Step(
            number: change.number, connection: connection.id, added: change.added.subtracting(connection.topics),
            removed: change.removed.intersection(connection.topics))
        return (step, [])
    }

    fileprivate mutating func confirm(_ step: StreamTopics.Step) {
        guard connection?.id == step.connection else { return }
        connection?.topics.formUnion(step.added)
        connection?.topics.subtract(step.removed)
        refused.subtract(step.added)
    }

    /// The server refuses a change: what it was to add is not wanted any more, unless a later change adds it.
    fileprivate mutating func refuse(_ step: StreamTopics.Step) {
        let later = changes.filter { $0.number > step.number }.reduce(into: Set()) { $0.formUnion($1.added) }
        let dropped = step.added.subtracting(later).subtracting(connection?.topics ?? [])
        wanted?.subtract(dropped)
        refused.subtract(dropped)
    }

    /// Ends the link of a connection, and returns its number; `nil` if the connection is not open any more.
    fileprivate mutating func lose(_ connection: String) -> Int? {
        guard let link = self.connection?.link, self.connection?.id == connection else { return nil }
        (endedLink, end, self.connection) = (link, .transient(retryAfter: nil), nil)
        return link
    }
}

extension NetworkError {
    fileprivate static var topicsOfTheServer: NetworkError {
        NetworkError(
            .invalidParameters, in: .validating,
            "The server chooses the topics of this stream: an endpoint that names its topics can change them.",
            sending: .notSent)
    }

    fileprivate static var cancelledChange: NetworkError {
        NetworkError(.cancelled, in: .transporting, "The wait for the change of topics was cancelled.")
    }

    /// Whether the server refuses the change of topics itself.
    fileprivate var isRefusal: Bool { status == .badRequest || status == .forbidden }
}
