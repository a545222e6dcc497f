public import Foundation

/// The records of one request to an action log.
public struct ActionLogBatch: Sendable {
    /// One record of a user's action.
    public struct Record: Sendable {
        /// The globally unique id of the record.
        public var id: UUID
        /// The name of the user's action.
        public var name: String
        /// The record as received: a JSON object.
        public var json: [UInt8]

        /// Creates a record, for example for tests of a custom sink.
        public init(id: UUID, name: String, json: [UInt8]) {
            self.id = id
            self.name = name
            self.json = json
        }
    }

    /// The id of the installation, which is the id of the client's log file.
    public var installation: UUID
    /// The id of the stream, within which batches are numbered.
    public var stream: UUID
    /// The number of the batch in its stream, counted from 1.
    public var number: Int64
    /// The account that the client claims; `nil` if nobody was signed in. Only a verified signature or a token proves
    /// it.
    public var account: String?
    /// The records in the order in which the client recorded them.
    public var records: [Record]
    /// The date of this attempt by the client's clock; `nil` if the client sent no date. The dates in the records come
    /// from the same clock, so the difference between this date and the date of receipt corrects them.
    public var sent: Date?
    /// The verified identity or the address of the sender; `nil` if it is unknown. ``ActionLogQuotas`` limit the bytes
    /// of each source. The source is not stored.
    public var source: String?

    /// Creates a batch, for example for tests of a custom sink.
    public init(
        installation: UUID, stream: UUID, number: Int64, account: String?, records: [Record], sent: Date? = nil,
        source: String? = nil
    ) {
        self.installation = installation
        self.stream = stream
        self.number = number
        self.account = account
        self.records = records
        self.sent = sent
        self.source = source
    }
}

/// Stores the records of action logs, each record only once. ``ActionLogRoute`` passes batches to it.
public protocol ActionLogSink: Sendable {
    /// Stores a batch, and returns when it is durable.
    ///
    /// In one transaction, the implementation compares the batch's number with the highest number of its stream:
    ///
    /// - If it is the next number, the implementation stores the records with new ids, and stores the number as the
    ///   highest.
    /// - If it is greater than the next number, an earlier batch is missing. The implementation stores nothing, and
    ///   returns the number that it expects.
    /// - If the number is not greater and the ids of all records are stored, it returns that the batch is known.
    /// - If the number is not greater and an id is absent, the number was used for other records before, since the
    ///   client's file was restored from a backup. It stores nothing, and returns the number that it expects. The
    ///   client begins a new stream, and the implementation recognises stored records by their ids.
    ///
    /// It must not forget a highest number or an id while a client may still have the record.
    ///
    /// - Throws: ``StoreRefusal``, to which ``ActionLogRoute`` responds with its status and `Retry-After`, or any other
    ///   error, to which it responds with 503. After an error, no record of the batch is stored, and the client sends
    ///   it again.
    func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage
}

/// A sink that can erase records. ``ActionLogRoute/addErasure(to:path:account:)`` and
/// ``ActionLogRoute/addAnonymousErasure(to:path:)`` require it.
public protocol ActionLogErasing: ActionLogSink {
    /// Removes the contents of all records of an account, and returns when their removal is durable. The ids stay, so
    /// that no record is stored again. The erasure includes all batches that were passed to the sink before, even
    /// pending ones.
    ///
    /// - Parameter account: The account that clients claimed in their batches.
    /// - Throws: Any error. The client retries.
    func erase(account: String) async throws

    /// Removes the contents of the records of an installation that have no account, by the rules of
    /// ``erase(account:)``.
    ///
    /// The highest batch number of each stream also stays: the installation may send more records later. The route
    /// calls this function only for a client that has proved that the installation is its own. The function succeeds
    /// even if no record matches.
    ///
    /// - Parameter installation: The installation id of the batches.
    /// - Throws: Any error. The client retries.
    func erase(anonymousRecordsOf installation: UUID) async throws
}

/// A change that is enqueued for a sink's writer. Erasures are enqueued too, so that they also erase the records of
/// earlier batches.
package enum ActionLogChange: Sendable {
    case batch(ActionLogBatch)
    /// An erasure, whose result is ``ActionLogStorage/known``. A sink that erases in parts returns this result when no
    /// part is left. A sink that erases outside its writer returns it when all earlier batches are stored.
    case erasure(ActionLogOwner)

    package var byteCount: Int {
        switch self {
        case .batch(let batch): batch.byteCount
        case .erasure: ActionLogBatch.rowByteCount
        }
    }
}

/// Selects records that a sink erases together.
package enum ActionLogOwner: Sendable {
    case account(String)
    /// Records that an installation made while nobody was signed in.
    case nobody(installation: UUID)
}

/// A record as a sink stored it.
public struct StoredAction: Sendable, Hashable {
    /// The position of the record in the order of storage. Positions have gaps.
    public var sequence: Int64
    /// The globally unique id of the record.
    public var id: UUID
    /// The id of the installation, which is the id of the client's log file.
    public var installation: UUID
    /// The name of the user's action.
    public var name: String
    /// The record as received: a JSON object.
    public var json: [UInt8]
    /// The date of receipt by the server's clock.
    public var received: Date
    /// The date when the client sent the record, by the client's clock; `nil` if it sent no date. See
    /// ``ActionLogBatch/sent``.
    public var sent: Date?

    /// Creates a stored record, for a custom sink.
    public init(
        sequence: Int64, id: UUID, installation: UUID, name: String, json: [UInt8], received: Date, sent: Date?
    ) {
        self.sequence = sequence
        self.id = id
        self.installation = installation
        self.name = name
        self.json = json
        self.received = received
        self.sent = sent
    }
}

/// The result of passing a batch to an ``ActionLogSink``.
public enum ActionLogStorage: Sendable, Equatable {
    /// The batch is stored. The records with these ids were already stored before.
    case stored(duplicates: Set<UUID>)
    /// The batch was already stored: its number is not greater than the highest one, and the ids of all records are
    /// stored.
    case known
    /// The sink expects the batch with this number: an earlier batch is missing, or the number was used for other
    /// records.
    case gap(expected: Int64)
}
