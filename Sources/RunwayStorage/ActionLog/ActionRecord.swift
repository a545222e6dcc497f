import Foundation
import Runway
import RunwayFormats
import RunwayJSON

/// One record, with the data that identify it at the moment of recording.
struct ActionRecord: Sendable {
    var receipt: ActionReceipt
    /// Counts up by one in the order of recording, in one run.
    var number: UInt64
    var name: String
    var properties: Parameters
    /// The account that was signed in; empty if none was.
    var account: String
    var session: UUID
    /// The date of the device, which nothing changes later.
    var date: Date
    /// The time since the system started.
    var uptime: Duration
    var priority: ActionPriority
    /// See ``leastByteCount(_:_:)``.
    var byteCount = 0

    /// Returns the smallest number of bytes that a record may have as JSON. It counts only the name and the properties,
    /// and is fast.
    static func leastByteCount(_ name: String, _ properties: Parameters) -> Int {
        properties.reduce(name.utf8.count) { $0 + $1.name.utf8.count + $1.value.leastByteCount }
    }

    /// Returns the record as it is stored and sent, without its sequence number: a JSON object, secrets redacted.
    ///
    /// - Throws: ``StorageError/Kind/rejected`` if a property can't be written, if the name of the account has the
    ///   character U+0000, or if there are too many bytes.
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
    /// Returns a stored record with another name and other properties. Its id, its times and its session stay.
    ///
    /// - Throws: ``StorageError/Kind/rejected`` if a property can't be written, or if there are too many bytes.
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
    /// Writes the last members of a record, and ends it.
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
    /// Properties without secrets: by their names, and in texts that are URLs.
    fileprivate func redacted(withURLs parameters: Parameters) -> Parameters {
        Parameters(redacted(parameters).map { ($0.name, withoutSecretURLs($0.value)) })
    }

    /// Returns a text without the secrets that it has if it is a URL.
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
    /// The smallest number of bytes that the value may have as JSON.
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
    /// The form of RFC 9562 §4, in lower case.
    var text: String { uuidString.lowercased() }
}
