import Foundation
import RunwayJSON

extension ActionLogBatch {
    /// Parses the JSON of a batch, and checks all members that the format requires.
    ///
    /// - Throws: ``ActionLogProblem``.
    init(reading body: [UInt8], within limits: ActionLogRouteLimits) throws(ActionLogProblem) {
        let document: JSONDocument
        do {
            // The limit on values bounds the memory of the index. The limit on bytes does not, since 8 KB of gzip can
            // expand to four million values.
            document = try JSONDocument(
                body,
                limits: JSONLimits(
                    maximumByteCount: ActionLogRouteLimits.maximumByteCount,
                    maximumValueCount: ActionLogRouteLimits.maximumValueCount))
        } catch {
            var error = error
            error.bodyStart = nil
            throw ActionLogProblem(error.kind == .limitExceeded ? .tooLarge : .malformed, "\(error).")
        }
        let batch = RequiredMembers(json: document.root, place: "")
        (installation, stream) = (try batch.uuid("installation"), try batch.uuid("stream"))
        number = try batch.integer("batch", from: 1)
        (account, source) = (nil, nil)
        if ![.missing, .null].contains(document.root["account"].kind) {
            let name = try batch.text("account", upTo: ActionLogRouteLimits.maximumNameByteCount)
            if name.isEmpty { throw ActionLogProblem(.malformed, "account is empty.") }
            account = name
        }
        let milliseconds = document.root["sent"].kind == .missing ? nil : try batch.integer("sent")
        sent = milliseconds.map { Date(timeIntervalSince1970: Double($0) / 1000) }
        let list = document.root["records"]
        guard list.kind == .array else { throw ActionLogProblem(.malformed, "records is not an array.") }
        records = []
        for json in list.elements {
            guard records.count < limits.maximumRecordCount else {
                throw ActionLogProblem(.tooLarge, "The batch has more than \(limits.maximumRecordCount) records.")
            }
            records.append(try Record(reading: json, number: records.count))
        }
        // If empty batches were accepted, each would permanently store a stream's sequence number, and nothing else.
        if records.isEmpty { throw ActionLogProblem(.malformed, "records is empty.") }
    }
}

extension ActionLogBatch.Record {
    /// Parses one record of a batch.
    fileprivate init(reading json: JSONValue, number: Int) throws(ActionLogProblem) {
        let record = RequiredMembers(json: json, place: "records[\(number)].")
        let bytes = json.rawBytes
        guard bytes.count <= ActionLogRouteLimits.maximumRecordByteCount else {
            throw ActionLogProblem(
                .tooLarge, "records[\(number)] has more than \(ActionLogRouteLimits.maximumRecordByteCount) bytes.")
        }
        // Readers of the log rely on these members, so they are required although the server does not use them.
        _ = try record.integer("seq", from: 0)
        _ = try record.integer("time")
        _ = try record.string("boot")
        _ = try record.integer("uptime", from: 0)
        _ = try record.uuid("session")
        if ![.missing, .object].contains(json["properties"].kind) {
            throw ActionLogProblem(.malformed, "records[\(number)].properties is not an object.")
        }
        self.init(
            id: try record.uuid("id"), name: try record.text("name", upTo: ActionLogRouteLimits.maximumNameByteCount),
            json: Array(bytes))
    }
}

/// Reads required members of an object.
private struct RequiredMembers {
    let json: JSONValue
    /// The path of the object, for error texts.
    let place: String

    func string(_ name: String) throws(ActionLogProblem) -> String {
        guard let text = json[name].string else { throw problem(name, "a string") }
        return text
    }

    /// Returns a text that every database can store: PostgreSQL does not store U+0000.
    func text(_ name: String, upTo byteCount: Int) throws(ActionLogProblem) -> String {
        let text = try string(name)
        if text.utf8.count > byteCount {
            throw ActionLogProblem(.malformed, "\(place)\(name) has more than \(byteCount) bytes.")
        }
        if text.utf8.contains(0) { throw ActionLogProblem(.malformed, "\(place)\(name) contains U+0000.") }
        return text
    }

    func uuid(_ name: String) throws(ActionLogProblem) -> UUID {
        guard let id = UUID(uuidString: try string(name)) else { throw problem(name, "a UUID") }
        return id
    }

    func integer(_ name: String, from least: Int64 = .min) throws(ActionLogProblem) -> Int64 {
        guard let number = json[name].int64, number >= least else {
            throw problem(name, least == .min ? "a whole number" : "a whole number from \(least)")
        }
        return number
    }

    private func problem(_ name: String, _ expected: String) -> ActionLogProblem {
        ActionLogProblem(
            .malformed, "\(place)\(name) \(json[name].kind == .missing ? "is absent" : "is not \(expected)").")
    }
}
