public import Foundation

/// The records of one request of an action log.
public struct ActionLogBatch: Sendable {
    /// One record.
    public struct Record: Sendable {
        /// The id of the record, unique for ever.
        public var id: UUID
        /// The name of the user's action.
        public var name: String
        /// The record as received: a JSON object.
        public var json: [UInt8]

        /// Creates a record, for example for tests of a sink of your own.
        public init(id: UUID, name: String, json: [UInt8]) {
            self.id = id
            self.name = name
            self.json = json
        }
    }

    /// The id of the client's file.
    public var installation: UUID
    /// The id of the numbering.
    public var stream: UUID
    /// The number of the batch in its stream, counted from 1.
    public var number: Int64
    /// The account that the client states; `nil` if nobody was signed in. Only a verified signer or a token proves it.
    public var account: String?
    /// The records, in the order in which they were recorded.
    public var records: [Record]
    /// The date of this attempt by the client's clock; `nil` if the client states none. The dates in the records are by
    /// the same clock, so that the difference to the date of receipt corrects them.
    public var sent: Date?
    /// The source of the batch, independent of the client's statements: a verified identity or an address, whose bytes
    /// ``ActionLogQuotas`` limit; `nil` if it is not known. It is not stored.
    public var source: String?

    /// Creates a batch, for example for tests of a sink of your own.
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

/// Stores the records of action logs, each only once. ``ActionLogRoute`` passes batches to it.
public protocol ActionLogSink: Sendable {
    /// Stores a batch, and returns when it is durable.
    ///
    /// In one transaction, the implementation compares the batch's number with the highest number of its stream, stores
    /// those records whose ids are new, and stores the batch's number as the highest. If a number between both is
    /// missing, it stores nothing, and returns the number that it expects.
    ///
    /// If the number is not greater than the highest one, it stores nothing. If it has the ids of all records, the
    /// batch is known. If an id is absent, the number was used for other records before, since the client's file was
    /// restored from a backup. The implementation then returns the number that it expects: the client begins a new
    /// stream, and the implementation recognises stored records by their ids. It must not forget a highest number or an
    /// id while a client may still have the record.
    ///
    /// - Throws: ``ActionLogSinkBusy`` if too many batches wait, ``ActionLogQuotaExceeded`` if there is no room for the
    ///   batch, ``ActionLogBatchRejected`` if it can never be stored, or any other error. After an error no record of
    ///   the batch is stored, and the client sends it again.
    func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage
}

/// A sink that can erase records, for ``ActionLogRoute/addErasure(to:path:account:)`` and
/// ``ActionLogRoute/addAnonymousErasure(to:path:)``.
public protocol ActionLogErasing: ActionLogSink {
    /// Removes the contents of all records of an account, and returns when that is durable. The ids stay, so that no
    /// record is stored again. The erasure includes all batches that were passed to the sink before, even if they still
    /// wait.
    ///
    /// - Parameter account: The account that clients stated.
    /// - Throws: Any error. The client asks again.
    func erase(account: String) async throws

    /// Removes the contents of those records of an installation that have no account, under the same rules as
    /// ``erase(account:)``.
    ///
    /// The highest numbers of its streams stay, too: the installation may send more records later. The route calls it
    /// only for a client that has proved that the installation is its own. The function succeeds whether there are such
    /// records or not.
    ///
    /// - Parameter installation: The id of the installation, from its batches.
    /// - Throws: Any error. The client asks again.
    func erase(anonymousRecordsOf installation: UUID) async throws
}

/// Too many batches wait for a sink. ``ActionLogRoute`` responds with 429 and `Retry-After`; its response to other
/// errors of a sink is 503.
public struct ActionLogSinkBusy: Error, CustomStringConvertible {
    /// Lets a sink of your own refuse a batch while too many wait.
    public init() {}

    /// The error in one sentence.
    public var description: String { "Too many batches wait to be stored." }
}

/// A sink can never store a batch, for example because its database does not accept a text. ``ActionLogRoute`` responds
/// with 400, and the client finds the record and sets it aside.
public struct ActionLogBatchRejected: Error, CustomStringConvertible {
    /// Lets a sink of your own refuse a batch for ever.
    public init() {}

    /// The error in one sentence.
    public var description: String { "The batch can't be stored." }
}

/// A change that waits for the writer of a sink. An erasure waits for its turn, so that earlier records are erased,
/// too.
package enum ActionLogChange: Sendable {
    case batch(ActionLogBatch)
    /// A sink that erases in parts returns `known` when no part is left; a sink that erases elsewhere returns it when
    /// all earlier batches are stored.
    case erasure(ActionLogOwner)

    package var byteCount: Int {
        switch self {
        case .batch(let batch): batch.byteCount
        case .erasure: ActionLogBatch.rowByteCount
        }
    }
}

/// The owner of records that a sink erases together.
package enum ActionLogOwner: Sendable {
    case account(String)
    /// Records that an installation made while nobody was signed in.
    case nobody(installation: UUID)
}

/// The number of records of one name that a sink has of one installation.
public struct ActionLogCount: Sendable, Hashable, Codable {
    /// The id of the client's file.
    public var installation: UUID
    /// The name of the user's action.
    public var name: String
    /// The number of records.
    public var count: Int

    /// Creates a count, for a sink of your own.
    public init(installation: UUID, name: String, count: Int) {
        self.installation = installation
        self.name = name
        self.count = count
    }
}

/// A record in a sink.
public struct StoredAction: Sendable, Hashable {
    /// The position in the order in which a sink stored its records; it has gaps.
    public var sequence: Int64
    /// The id of the record, unique for ever.
    public var id: UUID
    /// The id of the client's file.
    public var installation: UUID
    /// The name of the user's action.
    public var name: String
    /// The record as received: a JSON object.
    public var json: [UInt8]
    /// The date of receipt, by the server's clock.
    public var received: Date
    /// The date at which the client sent the record, by its clock: see ``ActionLogBatch/sent``.
    public var sent: Date?

    /// Creates a stored record, for a sink of your own.
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
    /// The batch is stored; the records with these ids were stored before.
    case stored(duplicates: Set<UUID>)
    /// The number is not greater than the highest one, and all records are stored already.
    case known
    /// The sink expects the batch with this number: a batch before the passed one is missing, or the passed number was
    /// used for other records.
    case gap(expected: Int64)
}
