import Foundation
import HTTPTypes
import Runway

/// A change as the journal stores it: the request without its authentication, and the data for a list of changes.
///
/// The payload of its ``row`` is the rest as JSON.
struct StoredChange: Sendable, Codable, Equatable {
    private enum CodingKeys: String, CodingKey {
        case service, environment, account, endpoint, method, target, fields, body, parameters, call, authorization
        case subjects, key, mayHaveBeenSent, hasResult, date, keyDate, boot, invalidates
    }

    /// The entry of the journal, with the state of the change.
    var row = JournalEntry(id: UUID(), scope: "", priority: 0, payload: [])
    /// Whether the change is too old to be sent: a server that has executed it may have forgotten its key, and would
    /// execute it again. A claim sets this.
    var isTooOld = false
    var service: String
    var environment: String
    var account: String?
    var endpoint: String
    var method: String
    var target: String
    /// Names and values in order, since a name may occur more than once.
    var fields: [[String]]
    var body: Data
    /// A JSON object.
    var parameters: Data
    /// The call as JSON: ``UnsentChange/call``. Absent if there is none, and in changes of former versions.
    var call: String?
    /// The policy of the call as a word: ``UnsentChange/authorization``. Absent if it is that of the endpoint, and in
    /// changes of former versions.
    var authorization: String?
    var subjects: [String]
    /// The `Idempotency-Key`.
    var key: UUID
    /// Whether the server may have taken the change.
    var mayHaveBeenSent: Bool
    /// Whether the server has processed the key, and repeats its failure for it. Absent in changes of former versions.
    var hasResult: Bool?
    var date: Date
    /// The time since which a server may know the key, if it differs from ``date``: the change has got another key.
    var keyDate: Date?
    /// The name of the time since the system was started, at ``date`` or ``keyDate``: ``JournalTime/boot``. Absent in
    /// changes of former versions.
    var boot: String?
    /// The invalidations of the call: the names of services, or of a service and an endpoint. Absent in changes of
    /// former versions.
    var invalidates: [[String]]?

    /// - Parameter boot: The name of the time since the system was started.
    init(_ change: UnsentChange, at date: Date, boot: String) {
        row = JournalEntry(id: change.id ?? UUID(), scope: ChangeScope(change).text, priority: 0, payload: [])
        service = ChangeScope.service(of: change.endpoint)
        environment = change.environment.name
        account = change.account
        endpoint = change.endpoint.name
        method = change.method.rawValue
        target = change.target
        fields = change.headerFields.map { [$0.name.rawName, $0.value] }
        body = Data(change.body)
        parameters = Data((try? change.parameters.json(dates: .iso8601)) ?? Array("{}".utf8))
        call = change.call.isEmpty ? nil : String(decoding: change.call, as: UTF8.self)
        authorization = change.authorization.flatMap { Self.authorizations[$0] }
        subjects = change.subjects
        key = change.key
        mayHaveBeenSent = change.mayHaveBeenSent
        self.date = date
        self.boot = boot
        invalidates = change.invalidates.compactMap { scope in
            switch scope {
            case .service(let name): [name]
            case .endpoint(let name, let service): [service, name]
            case .everything, .account: nil
            }
        }
    }

    /// The words under which policies are stored.
    private static let authorizations: [AuthorizationPolicy: String] = [
        .required: "required", .ifSignedIn: "ifSignedIn", .none: "none",
    ]

    /// Returns the time for which a server may have known the key, by the date, which may have jumped forwards or
    /// backwards.
    func keyAge(at date: Date) -> Duration { .seconds(abs(date.timeIntervalSince(keyDate ?? self.date))) }

    /// Whether the change has one key for ever: the server may have taken it under this one, and has not shown how it
    /// processed the key. Another key could have a second effect.
    var isBoundToKey: Bool { mayHaveBeenSent && hasResult != true }

    /// Replaces the key by one that no server has seen.
    mutating func renewKey(at time: JournalTime) {
        (key, keyDate, boot) = (UUID(), time.date, time.boot)
        (mayHaveBeenSent, hasResult) = (false, nil)
    }

    /// The stored responses that the change makes wrong. For a change of a former version, these are the responses of
    /// its service.
    private var invalidatedScopes: [CacheScope] {
        guard let invalidates else { return [.service(service)] }
        return invalidates.map { names in
            names.count == 2 ? .endpoint(names[1], service: names[0]) : .service(names.first ?? service)
        }
    }

    /// Identifies the change.
    var id: UUID { row.id }

    /// Reads an entry; `nil` if a later version of the app wrote it, or it could not be decrypted.
    init?(_ row: JournalEntry) {
        guard let change = try? JSONDecoder().decode(StoredChange.self, from: Data(row.payload)) else { return nil }
        self = change
        self.row = row
    }

    /// Returns the payload of the row.
    func bytes() throws(StorageError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(self))
        } catch {
            throw StorageError(.rejected, "The change can't be written.")
        }
    }

    /// Returns the change to be sent as a call of an endpoint; `nil` if its method or a field's name is malformed.
    func unsent(as type: any Endpoint.Type) -> UnsentChange? {
        guard let method = HTTPRequest.Method(rawValue: method) else { return nil }
        var headerFields = HTTPFields()
        for field in fields {
            guard field.count == 2, let name = HTTPField.Name(field[0]) else { return nil }
            headerFields.append(HTTPField(name: name, value: field[1]))
        }
        return UnsentChange(
            endpoint: type, environment: ServiceEnvironment(environment), account: account, method: method,
            target: target, headerFields: headerFields, body: Array(body),
            authorization: Self.authorizations.first { $0.value == authorization }?.key, subjects: subjects,
            invalidates: invalidatedScopes, key: key, mayHaveBeenSent: mayHaveBeenSent)
    }
}

/// The reason why a change is set aside, as the journal stores it: a word, and a sentence of the server's or the
/// queue's.
struct SetAsideReason: Sendable, Equatable {
    enum Word: String, Sendable {
        case conflicting, refused, held, expired
        /// No response came to the change, while the server accepted others.
        case unanswered
        /// A later version of the app wrote it. It waits again in a run that can read it.
        case unreadable
    }

    var word: Word
    var sentence: String

    init(_ word: Word, _ sentence: String = "") {
        self.word = word
        self.sentence = sentence
    }

    /// Reads a reason from its ``text``. A text that can't be read counts as a refusal.
    init(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        word = parts.first.flatMap { Word(rawValue: String($0)) } ?? .refused
        sentence = parts.count > 1 ? String(parts[1]) : ""
    }

    var text: String { "\(word.rawValue) \(sentence)" }
}

extension SetAsideReason {
    /// The reason for a change that this run can't read.
    static let unreadable = SetAsideReason(.unreadable, "A later version of the app stored the change.")
    /// The reason for a change that this run can't read, and that the server may have received.
    static let unreadableAfterSending = SetAsideReason(
        .unreadable, "A later version of the app stored the change, and may have sent it.")
    /// The reason that the app reads for a change that was encrypted with another key.
    static let sealedSentence = "The change can't be decrypted: its key can't be read, or is another one."
}

extension QueuedChange {
    /// A change as the app sees it. One that can't be read has no endpoint and no parameters.
    init(_ row: JournalEntry) {
        if let change = StoredChange(row) {
            self.init(change)
            return
        }
        let scope = ChangeScope(row.scope)
        self.init(
            id: row.id, service: scope?.service ?? "", environment: ServiceEnvironment(scope?.environment ?? ""),
            account: scope?.account, endpoint: "", parameters: RawData(Array("{}".utf8)),
            date: Date(timeIntervalSince1970: 0), state: row.isSealed ? .sealed : .refused,
            reason: row.isSealed ? SetAsideReason.sealedSentence : SetAsideReason.unreadable.sentence)
    }

    /// A change that was read.
    init(_ change: StoredChange) {
        let reason = change.row.state == .setAside ? SetAsideReason(change.row.reason) : nil
        let state: State =
            switch (change.row.state, reason?.word) {
            case (.setAside, .held): .held
            case (.setAside, .expired), (.setAside, .unanswered): .expired
            case (.setAside, _) where change.isBoundToKey: .uncertain
            case (.setAside, .conflicting): .conflicting
            case (.setAside, _): .refused
            case (.claimed, _), (.ahead, _): .sending
            // One that waits for its key, and can be read by now.
            case (.waiting, _), (.sealed, _): change.mayHaveBeenSent ? .sending : .waiting
            }
        self.init(
            id: change.id, service: change.service, environment: ServiceEnvironment(change.environment),
            account: change.account, endpoint: change.endpoint, parameters: RawData(Array(change.parameters)),
            call: Array((change.call ?? "").utf8), subjects: change.subjects, date: change.date,
            byteCount: change.row.payload.count, state: state, reason: reason?.sentence ?? "")
    }
}
