package import Foundation
package import RunwayJSON

/// A server's response to a batch of an action log.
package struct BatchResponse: Sendable {
    /// The server's verdict on a record.
    package enum Verdict: Sendable, Hashable {
        /// The server has stored the record now.
        case stored
        /// The server had stored the record before.
        case duplicate
        /// The server will never accept the record, for the associated reason.
        case refused(String)
    }

    /// The id of the stream in which the batch is numbered.
    package var stream: UUID
    package var number: Int64
    /// The batch number that the server expects instead, if batches are missing or the number was used; otherwise
    /// `nil`.
    package var expected: Int64?
    package var verdicts: [(id: UUID, verdict: Verdict)] = []
    /// The number of seconds for which the client should send no batch; `nil` if the server sets no pause.
    package var wait: Double?
    /// The fraction of records that the client should send; `nil` if the server names none.
    package var sampleRate: Double?

    /// - Parameters:
    ///   - stream: The id of the stream in which the batch is numbered.
    ///   - number: The number of the batch.
    package init(stream: UUID, number: Int64) { (self.stream, self.number) = (stream, number) }

    /// Decodes a response. Returns `nil` if it is malformed. Unknown verdicts are left out.
    package init?(_ json: JSONValue) {
        guard let stream = json["stream"].string.flatMap({ UUID(uuidString: $0) }), let number = json["batch"].int64
        else { return nil }
        self.init(stream: stream, number: number)
        expected = json["expected"].int64
        for record in json["records"].elements {
            guard let id = record["id"].string.flatMap({ UUID(uuidString: $0) }) else { continue }
            switch record["verdict"].string {
            case "stored": verdicts.append((id, .stored))
            case "duplicate": verdicts.append((id, .duplicate))
            case "refused": verdicts.append((id, .refused(record["reason"].string ?? "refused")))
            default: break
            }
        }
        (wait, sampleRate) = (json["pace"]["wait"].double, json["pace"]["sample"].double)
    }

    package var json: [UInt8] {
        JSONWriter.object { writer in
            writer.member("stream", stream.uuidString.lowercased())
            writer.member("batch", number)
            writer.member("expected", expected)
            if expected == nil {
                writer.member("records", verdicts) { writer, record in
                    writer.object { $0.verdict(record.verdict, on: record.id) }
                }
            }
            guard let wait, let sampleRate else { return }
            writer.name("pace")
            writer.object { writer in
                writer.member("wait", Int64(wait))
                writer.name("sample")
                // JSON can represent a fraction, so this never fails.
                try? writer.double(sampleRate)
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func verdict(_ verdict: BatchResponse.Verdict, on id: UUID) {
        member("id", id.uuidString.lowercased())
        switch verdict {
        case .stored: member("verdict", "stored")
        case .duplicate: member("verdict", "duplicate")
        case .refused(let reason):
            member("verdict", "refused")
            member("reason", reason)
        }
    }
}

/// A request to erase the records that an installation sent without an account. Its body contains the installation's
/// secret, and the installation's id is computed from the secret.
package enum ErasureRequest {
    package static let maximumByteCount = 1024
    package static let secretByteCount = 32

    /// Returns the body with a secret in Base64.
    package static func json(secret: String) -> [UInt8] { JSONWriter.object { $0.member("secret", secret) } }

    /// Returns the secret in a body, in Base64; `nil` if the body is malformed.
    package static func secret(in body: [UInt8]) -> String? { (try? JSONDocument(body))?.root["secret"].string }

    /// Returns the id of an installation: a UUID of version 8 (RFC 9562 §5.8) from the SHA-256 of its secret.
    package static func installation(ofDigest digest: [UInt8]) -> UUID {
        var digest = digest
        digest[6] = digest[6] & 0x0F | 0x80
        digest[8] = digest[8] & 0x3F | 0x80
        return digest.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
