public import struct Foundation.Date
public import struct Foundation.UUID

/// A call that is stored and waits to be sent: see ``OfflinePolicy``.
public struct QueuedChange: Sendable, Identifiable {
    /// The state of a change, which states why the change waits. Later versions may add states.
    public struct State: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String { case waiting, sending, conflicting, refused, uncertain, held, expired, sealed }

        private let code: Code

        /// The state in one word. It does not change between releases.
        public var description: String { code.rawValue }

        /// The queue sends the change when its turn comes, after the earlier changes of the same service, environment
        /// and account.
        public static let waiting = State(code: .waiting)
        /// The change was sent at least once, but its outcome is unknown: the server may have executed it. The queue
        /// sends the change again.
        public static let sending = State(code: .sending)
        /// The server refused the change with status 409 or 412, because the object was modified in the meantime. The
        /// app decides whether to send or discard the change.
        public static let conflicting = State(code: .conflicting)
        /// The server refused the change permanently. The app decides whether to send or discard the change.
        public static let refused = State(code: .refused)
        /// The server refused the change, but its response does not show whether an earlier attempt was executed. The
        /// app sends the change again under the same `Idempotency-Key`, or discards it.
        public static let uncertain = State(code: .uncertain)
        /// The change can't be sent because the server refused an earlier change of the same object; see
        /// ``QueuedChange/subjects``.
        public static let held = State(code: .held)
        /// The change waited longer than the queue allows. The app decides whether to send or discard the change.
        public static let expired = State(code: .expired)
        /// The change can't be decrypted, because the app's key can't be read or is not the key that encrypted the
        /// change. The change waits for that key.
        public static let sealed = State(code: .sealed)
    }

    /// Identifies the change while it is stored, in all runs of the app.
    public let id: UUID
    /// The name of the service that the call belongs to.
    public let service: String
    /// The environment of the service in which the call was made.
    public let environment: ServiceEnvironment
    /// The account that made the call; `nil` if no account was signed in.
    public let account: String?
    /// The name of the endpoint type that the call uses.
    public let endpoint: String
    /// The parameters of the call as a JSON object, without the common parameters of the service.
    public let parameters: RawData
    /// The names of the objects that the call changes; see ``Endpoint/offlineSubjects``.
    public let subjects: [String]
    /// The date at which the call was stored.
    public let date: Date
    /// The number of bytes that the change occupies in the queue.
    public let byteCount: Int
    /// The state of the change, which states why the change waits.
    public let state: State
    /// The reason for the state, for example why the server refused the change; empty if there is no reason to state.
    public let reason: String
    private let call: [UInt8]

    /// Creates a change, for an implementation of a queue and for tests.
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
    /// Restores the stored call, with all properties of its endpoint, including those that are ``Unencoded``.
    ///
    /// ```swift
    /// let rename = change.call(as: RenameNote.self)
    /// ```
    ///
    /// - Parameter type: The endpoint, which must be `Decodable`.
    /// - Returns: The call. `nil` if the change belongs to another endpoint, or if it was stored by a version of the
    ///   app in which the endpoint was not `Decodable` or had other properties. In these cases use ``parameters`` and
    ///   ``subjects``.
    public func call<E: Endpoint & Decodable>(as type: E.Type) -> E? {
        guard endpoint == type.name, service == E.Service.name, !call.isEmpty else { return nil }
        return StoredCall.endpoint(call, as: type)
    }
}

/// The underlying error of a call that was stored instead of sent.
struct ChangeIsQueued: DescribedError {
    let change: QueuedChange
    var description: String { "The call is stored as the change \(change.id)." }
}

extension NetworkError {
    /// The stored change if the error's kind is ``Kind/queued``; otherwise `nil`.
    public var queuedChange: QueuedChange? { (underlying as? ChangeIsQueued)?.change }
}

/// The result of a call that is either sent or stored to be sent later. ``NetworkLayer/submit(_:options:)`` returns it.
public enum Submission: Sendable {
    /// The server responded to the call.
    case response(RawData)
    /// The call is stored. The queue sends it as soon as possible.
    case queued(QueuedChange)
}
