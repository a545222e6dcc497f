import HTTPTypes
import Runway
import Synchronization

/// The topics that a stream wants, and those that its open connection follows. Changes are sent one at a time, in their
/// order.
///
/// No event of a wanted topic is skipped. A link ends before any event of a topic is delivered if it was opened without
/// that topic, if its change of topics failed, or if its server is not Runway's and can't be sent the change. The next
/// link requests all wanted topics, and begins where the last one ended.
///
/// Events are skipped if the server refuses their topic, or if an earlier run of the app did not want it. Such a topic
/// is remembered until a link has it, which then does not count as resumed.
final class StreamTopics: Sendable {
    /// Sends a change of a connection's topics to the server, and returns those that the server does not allow, as far
    /// as it names them.
    typealias Send =
        @Sendable (_ connection: String, _ added: Set<String>, _ removed: Set<String>) async throws(NetworkError)
        -> Set<String>
    typealias Outcome = Result<Void, NetworkError>

    fileprivate struct Change {
        let number: Int
        let added: Set<String>
        let removed: Set<String>
        /// The task that waits for the outcome; `nil` if none does.
        var waiter: CheckedContinuation<Outcome, Never>?
    }

    fileprivate struct Connection {
        let id: String
        let link: Int
        /// The topics that the server has confirmed.
        var topics: Set<String>
    }

    /// A change that is being sent, without topics that the connection has already.
    fileprivate struct Step {
        let number: Int
        let connection: String
        let added: Set<String>
        let removed: Set<String>
    }

    fileprivate struct State {
        var wanted: Set<String>?
        /// The wanted topics that the server has refused on the present or last link.
        var refused: Set<String> = []
        /// The topics of which the stream has skipped no events; `nil` if these are all wanted ones, as after the first
        /// link, or if they are not known.
        var followed: Set<String>?
        /// The number of changes that the server has confirmed.
        var confirmedCount = 0
        var connection: Connection?
        /// The open link of a server other than Runway's, and the topics that it requested.
        var plainLink: (number: Int, topics: Set<String>)?
        /// The last link that ended because of its topics, and how it ended.
        var endedLink = 0
        var end = LinkFailure.superseded
        /// The waiting changes. The first one is being sent, if any is.
        var changes: [Change] = []
        var changeCount = 0
        var isSending = false
    }

    private let send: Send
    /// Called when a change failed on a link, which then has to be replaced.
    private let onLoss: @Sendable (_ link: Int) -> Void
    /// Called when the topics that the server refuses on the open link have changed.
    private let onRefusal: @Sendable () -> Void
    /// Guards the topics, the open connection and the changes. No continuation is resumed while it is held.
    private let state: Mutex<State>

    init(
        _ wanted: Set<String>?, send: @escaping Send, onLoss: @escaping @Sendable (Int) -> Void,
        onRefusal: @escaping @Sendable () -> Void
    ) {
        state = Mutex(State(wanted: wanted))
        (self.send, self.onLoss, self.onRefusal) = (send, onLoss, onRefusal)
    }

    /// The wanted topics; `nil` if the server chooses the topics.
    var wanted: Set<String>? { state.withLock { $0.wanted } }
    /// The wanted topics that the server does not allow, as reported on the last connection.
    var refused: Set<String> { state.withLock { $0.refused } }
    /// The wanted topics, without those of which the stream skipped events before this run of the app; `nil` if the
    /// server chooses the topics.
    var followed: Set<String>? {
        state.withLock { state in
            guard let followed = state.followed else { return state.wanted }
            return state.wanted?.intersection(followed)
        }
    }
    /// The number of changes that the server has confirmed.
    var confirmedCount: Int { state.withLock { $0.confirmedCount } }
    /// The id of the open connection; `nil` while no connection is open, and for servers other than Runway's.
    var connection: String? { state.withLock { $0.connection?.id } }

    /// Returns whether events of a topic are still wanted.
    func wants(_ topic: String) -> Bool { state.withLock { $0.wanted?.contains(topic) ?? true } }

    /// Returns how a link has ended because of its topics; `nil` if it has not.
    func end(of link: Int) -> LinkFailure? { state.withLock { link <= $0.endedLink ? $0.end : nil } }

    /// Continues at the position of a cursor: events before it were skipped if their topics were not wanted or were
    /// refused.
    func restore(_ cursor: StreamCursor) {
        state.withLock { state in
            state.followed = cursor.topics?.subtracting(cursor.refusedTopics)
            state.refused.formUnion(cursor.refusedTopics.intersection(state.wanted ?? []))
        }
    }

    /// Notes that the server has opened a connection. If it did not request a topic that is wanted by now, its link has
    /// ended.
    ///
    /// - Parameters:
    ///   - id: The name of the connection.
    ///   - link: The number of the link, which is greater than the numbers of all earlier links.
    ///   - asked: The topics that the link requested.
    ///   - refused: The requested topics that the server does not allow.
    /// - Returns: Whether the link has a wanted topic that was refused, or not wanted, before: the stream may have
    ///   skipped events of it.
    func opened(_ id: String, on link: Int, asked: Set<String>?, refused: Set<String>) -> Bool {
        let (starts, hasReturnedTopics) = state.withLock { state -> (Bool, Bool) in
            guard link > state.endedLink else { return (false, false) }
            let asked = asked ?? []
            let wanted = state.wanted ?? asked
            guard wanted.isSubset(of: asked) else {
                (state.endedLink, state.end, state.connection) = (link, .superseded, nil)
                return (false, false)
            }
            let hasReturnedTopics = state.beginLink(refusing: refused)
            state.connection = Connection(id: id, link: link, topics: asked.subtracting(refused))
            // Topics may have been removed while the link was being opened.
            let removed = asked.subtracting(wanted)
            if removed.isEmpty { return (false, hasReturnedTopics) }
            let change = Change(number: state.nextNumber(), added: [], removed: removed)
            return (state.add(change), hasReturnedTopics)
        }
        if starts { Task { await sendChanges() } }
        return hasReturnedTopics
    }

    /// Notes that a server other than Runway's has opened a link. If it did not request a topic that is wanted by now,
    /// the link has ended.
    ///
    /// - Returns: The same as ``opened(_:on:asked:refused:)``.
    func opened(on link: Int, asked: Set<String>?) -> Bool {
        state.withLock { state in
            guard link > state.endedLink else { return false }
            if let wanted = state.wanted, let asked {
                guard wanted.isSubset(of: asked) else {
                    (state.endedLink, state.end) = (link, .superseded)
                    return false
                }
                state.plainLink = (link, asked)
            }
            return state.beginLink(refusing: [])
        }
    }

    /// Notes that the server has responded to a probe of a connection, and named the topics that it refuses there.
    ///
    /// - Parameter count: ``confirmedCount`` when the probe was sent. A response that may be older than a change is
    ///   ignored: the next one names the topics again.
    func probed(_ connection: String, refused: Set<String>, since count: Int) {
        let isNew = state.withLock { state in
            state.confirmedCount == count && state.connection?.id == connection && state.note(refused: refused)
        }
        if isNew { onRefusal() }
    }

    /// Notes that the link has ended, and is not read any more.
    func closed() { state.withLock { ($0.connection, $0.plainLink) = (nil, nil) } }

    /// Changes the wanted topics. If a connection is open, returns when the server has confirmed the change.
    ///
    /// - Throws: The error of a call that was refused (400, 403), which changes nothing, or that was cancelled.
    func change(adding added: Set<String>, removing removed: Set<String>) async throws(NetworkError) {
        let number = state.withLock { $0.nextNumber() }
        defer { if let link = state.withLock({ $0.losePlainLink() }) { onLoss(link) } }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let change = Change(number: number, added: added, removed: removed, waiter: waiter)
                let (outcome, starts, isLessRefused) = state.withLock { state -> (Outcome?, Bool, Bool) in
                    guard let wanted = state.wanted else { return (.failure(.topicsOfTheServer), false, false) }
                    state.wanted = wanted.union(added).subtracting(removed)
                    let isLessRefused = !state.refused.isDisjoint(with: removed)
                    state.refused.subtract(removed)
                    // The link that is opened next, or is being opened, has the topics.
                    if state.connection == nil { return (.success(()), false, isLessRefused) }
                    if Task.isCancelled {
                        return (.failure(.cancelledChange), state.add(change.withoutWaiter), isLessRefused)
                    }
                    return (nil, state.add(change), isLessRefused)
                }
                if isLessRefused { onRefusal() }
                if let outcome { waiter.resume(returning: outcome) }
                if starts { Task { await sendChanges() } }
            }
        } onCancel: {
            // The change is sent nevertheless.
            state.withLock { $0.takeWaiter(number) }?.resume(returning: .failure(.cancelledChange))
        }
        try outcome.get()
    }

    /// Sends changes until none is left.
    private func sendChanges() async {
        while let step = nextStep() {
            var outcome = Outcome.success(())
            do throws(NetworkError) {
                var refused: Set<String> = []
                if !step.added.isEmpty || !step.removed.isEmpty {
                    refused = try await send(step.connection, step.added, step.removed)
                }
                if state.withLock({ $0.confirm(step, refused: refused) }) { onRefusal() }
            } catch {
                if error.isRefusal {
                    outcome = .failure(error)
                    let refused = error.rawData?.refusedTopics ?? []
                    if state.withLock({ $0.refuse(step, refused: refused) }) { onRefusal() }
                } else {
                    // It is unknown whether the server has changed the topics. The next link requests the topics that
                    // are wanted then.
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

    /// Begins a link with all wanted topics except those that the server refuses. Returns whether it has a topic of
    /// which the stream may have skipped events.
    fileprivate mutating func beginLink(refusing topics: Set<String>) -> Bool {
        defer { followed = nil }
        // The server may choose topics that were not followed.
        guard let wanted else { return followed != nil }
        let passedBy = wanted.subtracting(followed ?? wanted).union(refused.intersection(wanted))
        refused = topics.intersection(wanted)
        return !passedBy.isSubset(of: topics)
    }

    /// Adds a change; returns whether the caller has to start sending.
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

    /// Returns the next change to send, and the waiters to resume. Without a connection no change is sent, and all
    /// waiters are resumed: the next link has their topics.
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

    /// Notes that the server refuses topics on the open connection; returns whether that is new.
    fileprivate mutating func note(refused topics: Set<String>) -> Bool {
        let lost = topics.intersection(wanted ?? [])
        connection?.topics.subtract(lost)
        defer { refused.formUnion(lost) }
        return !lost.isSubset(of: refused)
    }

    /// Notes that the server has made a change; returns whether it refuses other topics than before.
    fileprivate mutating func confirm(_ step: StreamTopics.Step, refused topics: Set<String>) -> Bool {
        guard connection?.id == step.connection else { return false }
        let before = refused
        confirmedCount += 1
        connection?.topics.formUnion(step.added)
        connection?.topics.subtract(step.removed)
        refused.subtract(step.added)
        return note(refused: topics) || refused != before
    }

    /// Notes that the server refuses a change: its added topics are no longer wanted, unless a later change adds them.
    /// Returns whether the server refuses other topics than before.
    fileprivate mutating func refuse(_ step: StreamTopics.Step, refused topics: Set<String>) -> Bool {
        let before = refused
        let later = changes.filter { $0.number > step.number }.reduce(into: Set()) { $0.formUnion($1.added) }
        // A topic that was refused before was wanted before.
        let dropped = step.added.subtracting(later).subtracting(connection?.topics ?? []).subtracting(refused)
        wanted?.subtract(dropped)
        refused.subtract(dropped)
        if connection?.id == step.connection { _ = note(refused: topics) }
        return refused != before
    }

    /// Ends the open link of a server other than Runway's if it does not have a wanted topic, and returns its number.
    fileprivate mutating func losePlainLink() -> Int? {
        guard let link = plainLink, let wanted, !wanted.isSubset(of: link.topics) else { return nil }
        (endedLink, end, plainLink) = (link.number, .superseded, nil)
        return link.number
    }

    /// Ends the link of a connection, and returns its number; `nil` if the connection is not open any more.
    fileprivate mutating func lose(_ connection: String) -> Int? {
        guard let link = self.connection?.link, self.connection?.id == connection else { return nil }
        (endedLink, end, self.connection) = (link, .transient(retryAfter: nil), nil)
        return link
    }
}

extension NetworkError {
    /// The error of a change of topics although the server chooses the topics.
    static var topicsOfTheServer: NetworkError {
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
