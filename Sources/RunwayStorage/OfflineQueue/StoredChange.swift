import Foundation
import HTTPTypes
import Runway

/// A change in its stored form: the request without its authentication, and the data for a list of changes.
///
/// The payload of its ``row`` contains all other properties as JSON.
struct StoredChange: Sendable, Codable, Equatable {
    private enum CodingKeys: String, CodingKey {
        case service, environment, account, endpoint, method, target, fields, body, parameters, call, authorization
        case subjects, key, mayHaveBeenSent, hasResult, date, keyDate, boot, invalidates
    }

    /// The journal entry, with the state of the change.
    var row = JournalEntry(id: UUID(), scope: "", priority: 0, payload: [])
    /// Whether the change is too old to be sent: a server that has executed it may have lost its key, and would execute
    /// it again. A claim sets this property.
    var isTooOld = false
    var service: String
    var environment: String
    var account: String?
    var endpoint: String
    var method: String
    var target: String
    /// The header fields as pairs of name and value, in order. A name may occur more than once.
    var fields: [[String]]
    var body: Data
    /// The parameters as a JSON object.
    var parameters: Data
    /// The encoded call; see ``UnsentChange/call``. `nil` if there is none, or if an earlier version stored the change.
    var call: String?
    /// The authorization policy of the call; see ``UnsentChange/authorization``. `nil` if the endpoint's policy
    /// applies, or if an earlier version stored the change.
    var authorization: String?
    var subjects: [String]
    var key: UUID
    /// Whether the server may have received the change.
    var mayHaveBeenSent: Bool
    /// Whether the server has processed the key, and repeats its failure. `nil` if an earlier version stored the
    /// change.
    var hasResult: Bool?
    var date: Date
    /// The earliest date at which a server can know the key; `nil` if it is ``date``, since the key was never replaced.
    var keyDate: Date?
    /// The id of the system's boot at ``date`` or ``keyDate``; see ``JournalTime/boot``. `nil` if an earlier version
    /// stored the change.
    var boot: String?
    /// The invalidations of the call: the name of a service, or the names of a service and an endpoint. `nil` if an
    /// earlier version stored the change.
    var invalidates: [[String]]?

    /// - Parameter boot: The id of the system's current boot.
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

    /// The names under which authorization policies are stored.
    private static let authorizations: [AuthorizationPolicy: String] = [
        .required: "required", .ifSignedIn: "ifSignedIn", .none: "none",
    ]

    /// Returns the time for which a server may have known the key, by the date. The date may have jumped.
    func keyAge(at date: Date) -> Duration { .seconds(abs(date.timeIntervalSince(keyDate ?? self.date))) }

    /// Whether the change must always be sent with its current key. The server may have received the change, and has
    /// not shown the result for the key, so another key could cause a second effect.
    var isBoundToKey: Bool { mayHaveBeenSent && hasResult != true }

    /// Replaces the key with one that no server has seen.
    mutating func renewKey(at time: JournalTime) {
        (key, keyDate, boot) = (UUID(), time.date, time.boot)
        (mayHaveBeenSent, hasResult) = (false, nil)
    }

    /// The cached responses that the change invalidates. If an earlier version stored the change, these are all
    /// responses of its service.
    private var invalidatedScopes: [CacheScope] {
        guard let invalidates else { return [.service(service)] }
        return invalidates.map { names in
            names.count == 2 ? .endpoint(names[1], service: names[0]) : .service(names.first ?? service)
        }
    }

    var id: UUID { row.id }

    /// Decodes an entry. Returns `nil` if a later version of the app wrote it, or it could not be decrypted.
    init?(_ row: JournalEntry) {
        guard let change = try? JSONDecoder().decode(StoredChange.self, from: Data(row.payload)) else { return nil }
        self = change
        self.row = row
    }

    func bytes() throws(StorageError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(self))
        } catch {
            throw StorageError(.rejected, "The change can't be written.")
        }
    }

    /// Returns the change as a call of an endpoint; `nil` if its method or the name of a field is malformed.
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

/// The stored reason why a change is set aside: a word, and a sentence from the server or the queue.
struct SetAsideReason: Sendable, Equatable {
    enum Word: String, Sendable {
        case conflicting, refused, held, expired
        /// No response to the change arrived, while the server accepted other changes.
        case unanswered
        /// A later version of the app wrote the change. It waits again when a run can read it.
        case unreadable
    }

    var word: Word
    var sentence: String

    init(_ word: Word, _ sentence: String = "") {
        self.word = word
        self.sentence = sentence
    }

    /// Parses ``text``. A text that can't be parsed counts as a refusal.
    init(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        word = parts.first.flatMap { Word(rawValue: String($0)) } ?? .refused
        sentence = parts.count > 1 ? String(parts[1]) : ""
    }

    var text: String { "\(word.rawValue) \(sentence)" }
}

extension SetAsideReason {
    static let unreadable = SetAsideReason(.unreadable, "A later version of the app stored the change.")
    /// The reason for a change that this run can't read, and that the server may have received.
    static let unreadableAfterSending = SetAsideReason(
        .unreadable, "A later version of the app stored the change, and may have sent it.")
    /// The sentence that the app receives for a change with another encryption key.
    static let sealedSentence = "The change can't be decrypted: its key can't be read, or is another one."
}

extension QueuedChange {
    /// Creates the app's form of a change. A change that can't be read has no endpoint and no parameters.
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
            // A change that could not be decrypted before, but can be now, counts as waiting.
            case (.waiting, _), (.sealed, _): change.mayHaveBeenSent ? .sending : .waiting
            }
        self.init(
            id: change.id, service: change.service, environment: ServiceEnvironment(change.environment),
            account: change.account, endpoint: change.endpoint, parameters: RawData(Array(change.parameters)),
            call: Array((change.call ?? "").utf8), subjects: change.subjects, date: change.date,
            byteCount: change.row.payload.count, state: state, reason: reason?.sentence ?? "")
    }
}
