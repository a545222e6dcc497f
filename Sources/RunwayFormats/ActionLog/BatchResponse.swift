package import Foundation
package import RunwayJSON

/// The response of a server to a batch of an action log.
package struct BatchResponse: Sendable {
    /// The verdict of the server on a record.
    package enum Verdict: Sendable, Hashable {
        /// The record was stored now.
        case stored
        /// The server had the record before.
        case duplicate
        /// The server will never accept the record, for this reason.
        case refused(String)
    }

    /// The numbering of the batch.
    package var stream: UUID
    /// The number of the batch.
    package var number: Int64
    /// The number that the server expects, if numbers before the batch are missing, or its number was used; else `nil`.
    package var expected: Int64?
    /// The verdict on each record.
    package var verdicts: [(id: UUID, verdict: Verdict)] = []
    /// The number of seconds for which the server wants no batch; `nil` if it does not say.
    package var wait: Double?
    /// The fraction of records that the server wants; `nil` if it does not say.
    package var sampleRate: Double?

    /// - Parameters:
    ///   - stream: The numbering of the batch.
    ///   - number: The number of the batch.
    package init(stream: UUID, number: Int64) { (self.stream, self.number) = (stream, number) }

    /// Reads a response; `nil` if it is malformed. Verdicts that are not known are left out.
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

    /// The response as JSON.
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
                // A fraction is a number that JSON has.
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

/// A request to erase the records that an installation sent without an account. Its body has the secret of the
/// installation, whose id is computed from the secret.
package enum ErasureRequest {
    /// The most bytes of a body.
    package static let maximumByteCount = 1024
    /// The bytes of a secret.
    package static let secretByteCount = 32

    /// Returns the body with a secret, which is in Base64.
    package static func json(secret: String) -> [UInt8] { JSONWriter.object { $0.member("secret", secret) } }

    /// Returns the secret of a body, in Base64; `nil` if the body is malformed.
    package static func secret(in body: [UInt8]) -> String? { (try? JSONDocument(body))?.root["secret"].string }

    /// Returns the id of an installation: the start of the SHA-256 of its secret, with version and variant of a UUID of
    /// version 8 in place of six bits (RFC 9562 §5.8).
    package static func installation(ofDigest digest: [UInt8]) -> UUID {
        var digest = digest
        digest[6] = digest[6] & 0x0F | 0x80
        digest[8] = digest[8] & 0x3F | 0x80
        return digest.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
    }
}
