import Foundation
import Runway
import RunwayFormats
import RunwayJSON

/// A record with the data that are fixed when it is made.
struct ActionRecord: Sendable {
    var receipt: ActionReceipt
    /// The number of the record in this run, which grows by one per record.
    var number: UInt64
    var name: String
    var properties: Parameters
    var account: String
    var session: UUID
    /// The date of the device when the record was made.
    var date: Date
    /// The time since the system started, when the record was made.
    var uptime: Duration
    var priority: ActionPriority
    /// A lower bound for the size of the record; see ``leastByteCount(_:_:)``.
    var byteCount = 0

    /// Returns a lower bound for the size of the record as JSON. It counts only the name and the properties.
    static func leastByteCount(_ name: String, _ properties: Parameters) -> Int {
        properties.reduce(name.utf8.count) { $0 + $1.name.utf8.count + $1.value.leastByteCount }
    }

    /// Returns the record as it is stored and sent: a JSON object with secrets redacted, without its sequence number.
    ///
    /// - Throws: ``StorageError/Kind/rejected`` if a property can't be encoded, the name of the account contains
    ///   U+0000, or the record is too large.
    func entry(boot: String, redaction: Redaction, maximumByteCount: Int) throws(StorageError) -> JournalEntry {
        guard account.isScope else {
            throw StorageError(.rejected, "The name of the record's account has the character U+0000.")
        }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("id", receipt.id.text)
        writer.member("time", date.milliseconds)
        writer.member("boot", boot)
        writer.member("uptime", uptime.milliseconds)
        writer.member("session", session.text)
        try writer.describe(name, properties, redaction, maximumByteCount)
        return JournalEntry(
            id: receipt.id, scope: account, priority: priority.rawValue, payload: writer.bytes)
    }
}

extension ActionRecord {
    /// Returns a copy of a stored record with a new name and new properties. Its id, times and session stay.
    ///
    /// - Throws: ``StorageError/Kind/rejected`` if a property can't be encoded, or the record is too large.
    static func edited(
        _ payload: [UInt8], _ name: String, _ properties: Parameters, redaction: Redaction, maximumByteCount: Int
    ) throws(StorageError) -> [UInt8] {
        guard let former = try? JSONDocument(payload).root, former.kind == .object else {
            throw StorageError(.rejected, "The record can't be read.")
        }
        var writer = JSONWriter()
        writer.beginObject()
        for member in ["id", "time", "boot", "uptime", "session"] {
            writer.name(member)
            writer.value(former[member])
        }
        try writer.describe(name, properties, redaction, maximumByteCount)
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes the name and the properties of a record, and closes its object.
    fileprivate mutating func describe(
        _ name: String, _ properties: Parameters, _ redaction: Redaction, _ maximumByteCount: Int
    ) throws(StorageError) {
        let name = redaction.withoutSecretURL(name)
        member("name", name)
        if !properties.isEmpty {
            self.name("properties")
            do {
                let bytes = try redaction.redacted(withURLs: properties).json(dates: .iso8601)
                value(try JSONDocument(bytes).root)
            } catch {
                throw StorageError(.rejected, "A property of the record \"\(name)\" can't be written as JSON.")
            }
        }
        endObject()
        guard bytes.count <= maximumByteCount else {
            let start = name.cut(toByteCount: 64)
            throw StorageError(
                .rejected, "The record \"\(start)\" has \(bytes.count) bytes; at most \(maximumByteCount) are allowed.")
        }
    }
}

extension Redaction {
    /// Returns properties with secrets redacted: by the names of properties, and in texts that are URLs.
    fileprivate func redacted(withURLs parameters: Parameters) -> Parameters {
        Parameters(redacted(parameters).map { ($0.name, withoutSecretURLs($0.value)) })
    }

    /// Returns a text with secrets redacted if it is a URL.
    fileprivate func withoutSecretURL(_ text: String) -> String { text.contains("://") ? redacted(url: text) : text }

    private func withoutSecretURLs(_ value: ParameterValue) -> ParameterValue {
        switch value {
        case .string(let text): .string(withoutSecretURL(text))
        case .array(let elements): .array(elements.map(withoutSecretURLs))
        case .object(let members): .object(Parameters(members.map { ($0.name, withoutSecretURLs($0.value)) }))
        default: value
        }
    }
}

extension ParameterValue {
    /// A lower bound for the size of the value as JSON.
    fileprivate var leastByteCount: Int {
        switch self {
        case .string(let text): text.utf8.count
        case .bytes(let bytes): bytes.count
        case .array(let elements): elements.reduce(0) { $0 + $1.leastByteCount }
        case .object(let members): ActionRecord.leastByteCount("", members)
        default: 1
        }
    }
}

extension UUID {
    /// The text form of RFC 9562 §4, in lower case.
    var text: String { uuidString.lowercased() }
}
