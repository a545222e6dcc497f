public import Foundation

/// The records of one request of an action log.
public struct ActionLogBatch: Sendable {
    /// One record.
    public struct Record: Sendable {
        /// Identifies the record for ever.
        public var id: UUID
        /// What the user did.
        public var name: String
        /// The record as it came: a JSON object.
        public var json: [UInt8]

        /// Describes a record, as for tests of a sink of your own.
        public init(id: UUID, name: String, json: [UInt8]) {
            self.id = id
            self.name = name
            self.json = json
        }
    }

    /// Identifies the file of the client.
    public var installation: UUID
    /// Identifies the numbering.
    public var stream: UUID
    /// Counts up by one in its stream, from 1.
    public var number: Int64
    /// The account that the client states; `nil` if nobody was signed in. Only a verified signer or a token proves it.
    public var account: String?
    /// The records, in the order in which they were recorded.
    public var records: [Record]
    /// The date of this attempt by the client's clock; `nil` if it states none. The dates in its records are by the
    /// same clock, so that the difference from the date of receipt corrects them.
    public var sent: Date?
    /// Who sent it, whatever the client states: a verified identity or an address, whose bytes an ``ActionLogQuotas``
    /// counts; `nil` if that is not known. It is not stored.
    public var source: String?

    /// Describes a batch, as for tests of a sink of your own.
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

/// Stores the records of action logs, each once. ``ActionLogRoute`` passes batches to it.
public protocol ActionLogSink: Sendable {
    /// Stores a batch, and returns when it is durable.
    ///
    /// In one transaction, the implementation compares the number with the highest of its stream, stores those records
    /// whose ids it does not have, and stores the number as the highest. It stores nothing, and returns the number that
    /// it expects, if one is missing between the highest and this.
    ///
    /// It stores nothing of a batch whose number is not greater than the highest. It has that already if it has the ids
    /// of all its records. If one is absent, the number was used for other records before: the client's file was
    /// restored from a backup. The implementation then returns the number that it expects, so that the client begins a
    /// new stream, and recognises by their ids the records that it has. It never forgets a highest number or an id
    /// while a client may still hold the record.
    ///
    /// - Throws: ``ActionLogSinkBusy`` if too many batches wait, ``ActionLogQuotaExceeded`` if there is no room for the
    ///   batch, ``ActionLogBatchRejected`` if it can never be stored, or any other error; nothing of the batch is
    ///   stored, and the client sends it again.
    func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage
}

/// A sink that can erase records: ``ActionLogRoute/addErasure(to:path:account:)`` and
/// ``ActionLogRoute/addAnonymousErasure(to:path:)`` ask it to.
public protocol ActionLogErasing: ActionLogSink {
    /// Removes the contents of all records of an account, and returns when that is durable. Their ids stay, so that
    /// none is stored again. The records of batches that the sink was passed before are among them, also of those that
    /// still waited.
    ///
    /// - Parameter account: The account that clients stated.
    /// - Throws: Any error. The client asks again.
    func erase(account: String) async throws

    /// Removes the contents of the records of an installation that have no account, as ``erase(account:)`` does those
    /// of an account.
    ///
    /// The highest numbers of its streams stay, too: the installation may send more records later. A client has proved
    /// that the installation is its own. It succeeds in the same way whether there were such records or not.
    ///
    /// - Parameter installation: The id of the installation, as its batches state it.
    /// - Throws: Any error. The client asks again.
    func erase(anonymousRecordsOf installation: UUID) async throws
}

/// Too many batches wait for a sink. ``ActionLogRoute`` responds with 429 and `Retry-After`, to any other error with
/// 503.
public struct ActionLogSinkBusy: Error, CustomStringConvertible {
    /// Lets a sink of your own refuse a batch while too many wait.
    public init() {}

    /// What happened, in one sentence.
    public var description: String { "Too many batches wait to be stored." }
}

/// A sink can never store a batch, such as because of a text that its database does not take. ``ActionLogRoute``
/// responds with 400, and the client finds the record and sets it aside.
public struct ActionLogBatchRejected: Error, CustomStringConvertible {
    /// Lets a sink of your own refuse a batch for ever.
    public init() {}

    /// What happened, in one sentence.
    public var description: String { "The batch can't be stored." }
}

/// What waits for the writer of a sink. An erasure takes its turn, so that what came before it is erased, too.
package enum ActionLogChange: Sendable {
    case batch(ActionLogBatch)
    /// A sink that erases in parts returns `known` when nothing is left; one that erases elsewhere returns it when all
    /// earlier batches are stored.
    case erasure(ActionLogOwner)

    package var byteCount: Int {
        switch self {
        case .batch(let batch): batch.byteCount
        case .erasure: ActionLogBatch.rowByteCount
        }
    }
}

/// Whose records a sink erases together.
package enum ActionLogOwner: Sendable {
    case account(String)
    /// Nobody was signed in.
    case nobody(installation: UUID)
}

/// How many records of a name a sink has of one installation.
public struct ActionLogCount: Sendable, Hashable, Codable {
    /// The file of the client.
    public var installation: UUID
    /// What the user did.
    public var name: String
    /// The number of records.
    public var count: Int

    /// Lets a sink of your own report how many records of a name it has.
    public init(installation: UUID, name: String, count: Int) {
        self.installation = installation
        self.name = name
        self.count = count
    }
}

/// A record as a sink has it.
public struct StoredAction: Sendable, Hashable {
    /// The place in the order in which a sink stored its records; it has gaps.
    public var sequence: Int64
    /// Identifies the record for ever.
    public var id: UUID
    /// The file of the client.
    public var installation: UUID
    /// What the user did.
    public var name: String
    /// The record as it came: a JSON object.
    public var json: [UInt8]
    /// The date of receipt, by the server's clock.
    public var received: Date
    /// The date at which the client sent it, by its clock: see ``ActionLogBatch/sent``.
    public var sent: Date?

    /// Lets a sink of your own return a record that it has stored.
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

/// What an ``ActionLogSink`` did with a batch.
public enum ActionLogStorage: Sendable, Equatable {
    /// The batch is stored; these of its records were before.
    case stored(duplicates: Set<UUID>)
    /// The number is not greater than the highest one, and all records are stored already.
    case known
    /// The batch with this number must come next: one before it is missing, or the number of this one was used for
    /// other records.
    case gap(expected: Int64)
}
