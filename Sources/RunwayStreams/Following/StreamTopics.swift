import HTTPTypes
import Runway
import Synchronization

/// The topics that a stream wants, and the topics that its open connection follows. Changes are sent one by one.
///
/// No event of a wanted topic is skipped: a link (one connection of the stream) that lacks a wanted topic ends before
/// an event of the topic is delivered. A link lacks a topic if it was opened without the topic, if its change of topics
/// failed, or if its server is not a Runway server, to which no change can be sent. The next link requests all wanted
/// topics, and continues at the position of the previous link.
///
/// Events are skipped only if the server refuses their topic, or if an earlier run of the app did not want the topic.
/// Such a topic is remembered until a link includes it. That link does not count as resumed.
final class StreamTopics: Sendable {
    /// Sends a change of a connection's topics. Returns the topics that the server refuses, if its response names them.
    typealias Send =
        @Sendable (_ connection: String, _ added: Set<String>, _ removed: Set<String>) async throws(NetworkError)
        -> Set<String>
    typealias Outcome = Result<Void, NetworkError>

    fileprivate struct Change {
        let number: Int
        let added: Set<String>
        let removed: Set<String>
        /// The task that waits for the outcome; `nil` if no task waits.
        var waiter: CheckedContinuation<Outcome, Never>?
    }

    /// An open connection of a Runway server. The topics of the connection can be changed.
    fileprivate struct Connection {
        let id: String
        let link: Int
        /// The topics that the server has confirmed for the connection.
        var topics: Set<String>
    }

    /// The state of the newest link. Links have ascending numbers.
    ///
    /// ```text
    /// closed ──opened─▶ changeable | fixed ──a topic is missing─▶ ended ──opened─▶ changeable | fixed
    ///   ▲                      │
    ///   └───────closed─────────┘
    /// ```
    fileprivate enum Link {
        /// No link is open.
        case closed
        /// A link of a Runway server is open.
        case changeable(Connection)
        /// A link of another server is open. Its topics can't be changed.
        case fixed(link: Int, topics: Set<String>)
        /// The link has ended because of its topics, and its reader opens the next one.
        case ended(link: Int, LinkFailure)

        /// The open connection of a Runway server.
        var connection: Connection? {
            get { if case .changeable(let connection) = self { connection } else { nil } }
            set { self = newValue.map(Link.changeable) ?? .closed }
        }

        /// Returns how a link has ended because of its topics; `nil` if it has not.
        func end(of link: Int) -> LinkFailure? {
            switch self {
            case .ended(let last, let failure) where link <= last: failure
            case .changeable(let connection) where link < connection.link: .superseded
            case .fixed(let last, _) where link < last: .superseded
            default: nil
            }
        }
    }

    /// One change as it is sent to the server. `added` contains no topics that the connection already has.
    fileprivate struct Step {
        let number: Int
        let connection: String
        let added: Set<String>
        let removed: Set<String>
    }

    fileprivate struct State {
        var wanted: Set<String>?
        /// The wanted topics that the server refused on the current or last link.
        var refused: Set<String> = []
        /// The topics of which the stream has skipped no event. `nil` if it has skipped no event of any wanted topic,
        /// as after the first link, or if the topics are unknown.
        var followed: Set<String>?
        var confirmedCount = 0
        var link = Link.closed
        /// The waiting changes. If a change is in flight, it is the first.
        var changes: [Change] = []
        var changeCount = 0
        var isSending = false
    }

    private let send: Send
    /// Called when a change failed on a link, so that the link has to be replaced.
    private let onLoss: @Sendable (_ link: Int) -> Void
    /// Called when the set of topics that the server refuses on the open link has changed.
    private let onRefusal: @Sendable () -> Void
    /// Guards the topics, the open connection and the changes. Continuations are resumed without the lock.
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
    /// The wanted topics that the server refused on the last connection.
    var refused: Set<String> { state.withLock { $0.refused } }
    /// The wanted topics of which the stream has skipped no event; `nil` if the server chooses the topics.
    var followed: Set<String>? {
        state.withLock { state in
            guard let followed = state.followed else { return state.wanted }
            return state.wanted?.intersection(followed)
        }
    }
    var confirmedCount: Int { state.withLock { $0.confirmedCount } }
    /// The id of the open connection; `nil` without one, and for servers that are not Runway servers.
    var connection: String? { state.withLock { $0.link.connection?.id } }

    /// Returns whether events of a topic are still wanted.
    func wants(_ topic: String) -> Bool { state.withLock { $0.wanted?.contains(topic) ?? true } }

    /// Returns how a link ended because of its topics; `nil` if it did not.
    func end(of link: Int) -> LinkFailure? { state.withLock { $0.link.end(of: link) } }

    /// Continues at the position of a cursor. The stream has skipped earlier events of topics that the cursor does not
    /// name, or names as refused.
    func restore(_ cursor: StreamCursor) {
        state.withLock { state in
            state.followed = cursor.topics?.subtracting(cursor.refusedTopics)
            state.refused.formUnion(cursor.refusedTopics.intersection(state.wanted ?? []))
        }
    }

    /// Records that the server opened a connection. If the link lacks a topic that is wanted now, the link ends.
    ///
    /// - Parameters:
    ///   - id: The id of the connection.
    ///   - link: The number of the link, which is greater than the numbers of all earlier links.
    ///   - asked: The topics that the link requested.
    ///   - refused: The requested topics that the server refuses.
    /// - Returns: Whether the link includes a wanted topic whose events the stream may have skipped.
    func opened(_ id: String, on link: Int, asked: Set<String>?, refused: Set<String>) -> Bool {
        let (starts, hasReturnedTopics) = state.withLock { state -> (Bool, Bool) in
            guard state.link.end(of: link) == nil else { return (false, false) }
            let asked = asked ?? []
            let wanted = state.wanted ?? asked
            guard wanted.isSubset(of: asked) else {
                state.link = .ended(link: link, .superseded)
                return (false, false)
            }
            let hasReturnedTopics = state.beginLink(refusing: refused)
            state.link = .changeable(Connection(id: id, link: link, topics: asked.subtracting(refused)))
            // Topics may have been removed while the link was opening.
            let removed = asked.subtracting(wanted)
            if removed.isEmpty { return (false, hasReturnedTopics) }
            let change = Change(number: state.nextNumber(), added: [], removed: removed)
            return (state.add(change), hasReturnedTopics)
        }
        if starts { Task { await sendChanges() } }
        return hasReturnedTopics
    }

    /// Records that a server other than a Runway server opened a link. If the link did not request a topic that is
    /// wanted now, the link ends.
    ///
    /// - Returns: The same as ``opened(_:on:asked:refused:)``.
    func opened(on link: Int, asked: Set<String>?) -> Bool {
        state.withLock { state in
            guard state.link.end(of: link) == nil else { return false }
            if let wanted = state.wanted, let asked {
                guard wanted.isSubset(of: asked) else {
                    state.link = .ended(link: link, .superseded)
                    return false
                }
                state.link = .fixed(link: link, topics: asked)
            }
            return state.beginLink(refusing: [])
        }
    }

    /// Records the response to a request for a heartbeat (a probe), in which the server named the topics that it
    /// refuses.
    ///
    /// - Parameter count: ``confirmedCount`` when the probe was sent. A response that may be older than a change is
    ///   ignored, since the next response names the topics again.
    func probed(_ connection: String, refused: Set<String>, since count: Int) {
        let isNew = state.withLock { state in
            state.confirmedCount == count && state.link.connection?.id == connection && state.note(refused: refused)
        }
        if isNew { onRefusal() }
    }

    /// Records that the link has ended, and is no longer read.
    func closed() {
        state.withLock { state in
            if case .ended = state.link { return }
            state.link = .closed
        }
    }

    /// Changes the wanted topics. If a connection is open, returns when the server has confirmed the change.
    ///
    /// - Throws: The error of a refused call (400, 403), which changes nothing, or of a cancelled call.
    func change(adding added: Set<String>, removing removed: Set<String>) async throws(NetworkError) {
        let number = state.withLock { $0.nextNumber() }
        defer { if let link = state.withLock({ $0.loseFixedLink() }) { onLoss(link) } }
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let change = Change(number: number, added: added, removed: removed, waiter: waiter)
                let (outcome, starts, isLessRefused) = state.withLock { state -> (Outcome?, Bool, Bool) in
                    guard let wanted = state.wanted else { return (.failure(.topicsOfTheServer), false, false) }
                    state.wanted = wanted.union(added).subtracting(removed)
                    let isLessRefused = !state.refused.isDisjoint(with: removed)
                    state.refused.subtract(removed)
                    // The link that opens next, or is opening now, includes the topics.
                    if state.link.connection == nil { return (.success(()), false, isLessRefused) }
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
            // The change is sent although its caller no longer waits.
            state.withLock { $0.takeWaiter(number) }?.resume(returning: .failure(.cancelledChange))
        }
        try outcome.get()
    }

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
                    // It is unknown whether the server has changed the topics. The next link requests the wanted ones.
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

    /// Starts a link with all wanted topics except the refused ones. Returns whether the link includes a topic whose
    /// events the stream may have skipped.
    fileprivate mutating func beginLink(refusing topics: Set<String>) -> Bool {
        defer { followed = nil }
        // The server may choose topics that the stream did not follow before.
        guard let wanted else { return followed != nil }
        let passedBy = wanted.subtracting(followed ?? wanted).union(refused.intersection(wanted))
        refused = topics.intersection(wanted)
        return !passedBy.isSubset(of: topics)
    }

    /// Adds a change. Returns whether the caller has to start sending.
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
    /// waiters are resumed, since the next link includes their topics.
    fileprivate mutating func nextStep() -> (StreamTopics.Step?, [CheckedContinuation<StreamTopics.Outcome, Never>]) {
        guard let connection = link.connection, let change = changes.first else {
            let waiters = changes.compactMap(\.waiter)
            (changes, isSending) = ([], false)
            return (nil, waiters)
        }
        let step = StreamTopics.Step(
            number: change.number, connection: connection.id, added: change.added.subtracting(connection.topics),
            removed: change.removed.intersection(connection.topics))
        return (step, [])
    }

    /// Records the topics that the server refuses on the open connection. Returns whether they are new.
    fileprivate mutating func note(refused topics: Set<String>) -> Bool {
        let lost = topics.intersection(wanted ?? [])
        link.connection?.topics.subtract(lost)
        defer { refused.formUnion(lost) }
        return !lost.isSubset(of: refused)
    }

    /// Records that the server has changed the topics of the connection. Returns whether the server now refuses other
    /// topics than before.
    fileprivate mutating func confirm(_ step: StreamTopics.Step, refused topics: Set<String>) -> Bool {
        guard link.connection?.id == step.connection else { return false }
        let before = refused
        confirmedCount += 1
        link.connection?.topics.formUnion(step.added)
        link.connection?.topics.subtract(step.removed)
        refused.subtract(step.added)
        return note(refused: topics) || refused != before
    }

    /// Records that the server refused a change. The added topics are no longer wanted, unless a later change adds
    /// them. Returns whether the server refuses other topics than before.
    fileprivate mutating func refuse(_ step: StreamTopics.Step, refused topics: Set<String>) -> Bool {
        let before = refused
        let later = changes.filter { $0.number > step.number }.reduce(into: Set()) { $0.formUnion($1.added) }
        // Topics that were refused earlier stay wanted, since they were wanted before this change.
        let dropped = step.added.subtracting(later).subtracting(link.connection?.topics ?? []).subtracting(refused)
        wanted?.subtract(dropped)
        refused.subtract(dropped)
        if link.connection?.id == step.connection { _ = note(refused: topics) }
        return refused != before
    }

    /// Ends the open link of a server other than a Runway server if the link lacks a wanted topic. Returns the number
    /// of the link.
    fileprivate mutating func loseFixedLink() -> Int? {
        guard case .fixed(let number, let topics) = link, let wanted, !wanted.isSubset(of: topics) else { return nil }
        link = .ended(link: number, .superseded)
        return number
    }

    /// Ends the link of a connection, and returns its number; `nil` if the connection is no longer open.
    fileprivate mutating func lose(_ connection: String) -> Int? {
        guard let lost = link.connection, lost.id == connection else { return nil }
        link = .ended(link: lost.link, .transient(retryAfter: nil))
        return lost.link
    }
}

extension NetworkError {
    /// The error of changing the topics of a stream for which the server chooses the topics.
    static var topicsOfTheServer: NetworkError {
        NetworkError(
            .invalidParameters, in: .validating,
            "The server chooses the topics of this stream: an endpoint that names its topics can change them.",
            sending: .notSent)
    }

    fileprivate static var cancelledChange: NetworkError {
        NetworkError(.cancelled, in: .transporting, "The wait for the change of topics was cancelled.")
    }

    /// Whether the error is the server's refusal of a change of topics (400, 403).
    fileprivate var isRefusal: Bool { status == .badRequest || status == .forbidden }
}
