public import struct Foundation.Date
public import struct Foundation.UUID

/// A call that is stored and waits to be sent: see ``OfflinePolicy``.
public struct QueuedChange: Sendable, Identifiable {
    /// The state of a change, which says why it waits. Later versions may add states.
    public struct State: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String { case waiting, sending, conflicting, refused, uncertain, held, expired, sealed }

        private let code: Code

        /// The state in one word, which stays the same from release to release.
        public var description: String { code.rawValue }

        /// The change is sent when its turn comes.
        public static let waiting = State(code: .waiting)
        /// The change was sent at least once, but the outcome is unknown: the server may have it. The change is sent
        /// again when its turn comes.
        public static let sending = State(code: .sending)
        /// The server refused the change, because the object of the change has been changed meanwhile (status 409 or
        /// 412). The app decides.
        public static let conflicting = State(code: .conflicting)
        /// The server refused the change for ever. The app decides.
        public static let refused = State(code: .refused)
        /// The server refused the change, but the response does not show whether the server executed an earlier
        /// attempt. The app sends the change again, under the same `Idempotency-Key`, or discards it.
        public static let uncertain = State(code: .uncertain)
        /// An earlier change of one of the ``QueuedChange/subjects`` was refused, so that this change can't be sent.
        public static let held = State(code: .held)
        /// The change waited longer than the queue allows. The app decides.
        public static let expired = State(code: .expired)
        /// The change can't be decrypted, since the app's key can't be read or is another one. The change waits for its
        /// key.
        public static let sealed = State(code: .sealed)
    }

    /// Identifies the change for as long as it is stored, in all runs of the app.
    public let id: UUID
    /// The name of the service.
    public let service: String
    /// The environment of the service in which the call was made.
    public let environment: ServiceEnvironment
    /// The account that made the call; `nil` if no account was signed in.
    public let account: String?
    /// The name of the endpoint.
    public let endpoint: String
    /// The parameters of the call as a JSON object, without those common to the service.
    public let parameters: RawData
    /// The subjects that the call changes: ``Endpoint/offlineSubjects``.
    public let subjects: [String]
    /// The date at which the call was stored.
    public let date: Date
    /// The number of bytes that the change takes in the queue.
    public let byteCount: Int
    /// The state of the change, which says why it waits.
    public let state: State
    /// The reason why the server refused the change, or why it waits otherwise; empty if there is no reason to state.
    public let reason: String
    /// The endpoint as JSON: ``UnsentChange/call``.
    private let call: [UInt8]

    /// Describes a change, for an implementation of a queue, and for tests.
    public init(
        id: UUID, service: String, environment: ServiceEnvironment, account: String?, endpoint: String,
        parameters: RawData, call: [UInt8] = [], subjects: [String] = [], date: Date, byteCount: Int = 0,
        state: State = .waiting, reason: String = ""
    ) {
        self.id = id
        self.service = service
        self.environment = environment
        self.account = account
        self.endpoint = endpoint
        self.parameters = parameters
        self.call = call
        self.subjects = subjects
        self.date = date
        self.byteCount = byteCount
        self.state = state
        self.reason = reason
    }
}

extension QueuedChange {
    /// Returns the call that was made, with all properties of its endpoint, including those that are ``Unencoded``.
    ///
    /// ```swift
    /// let rename = change.call(as: RenameNote.self)
    /// ```
    ///
    /// - Parameter type: The endpoint, which must be `Decodable`.
    /// - Returns: The call; `nil` if it is of another endpoint, or was stored by a version of the app in which the
    ///   endpoint was not `Decodable` or had other properties. In these cases use ``parameters`` and ``subjects``.
    public func call<E: Endpoint & Decodable>(as type: E.Type) -> E? {
        guard endpoint == type.name, service == E.Service.name, !call.isEmpty else { return nil }
        return StoredCall.endpoint(call, as: type)
    }
}

/// The cause of an error that reports a stored call.
struct ChangeIsQueued: DescribedError {
    let change: QueuedChange
    var description: String { "The call is stored as the change \(change.id)." }
}

extension NetworkError {
    /// The stored change, if the kind is ``Kind/queued``; otherwise `nil`.
    public var queuedChange: QueuedChange? { (underlying as? ChangeIsQueued)?.change }
}
