import Foundation
import HTTPTypes
import Testing

@testable import RunwaySignatures

/// Both ways with another implementation. `Scripts/signatures.sh` makes the messages, runs this test, and verifies what it writes.
struct PeerTests {
    private struct Message: Codable {
        var method: String
        var url: String
        var fields: [[String]]
        var components: [String]
        var algorithm: String
        /// The status and the fields of the request, of a response.
        var status: Int?
        var requestFields: [[String]]?
    }

    private static let folder = ProcessInfo.processInfo.environment["RUNWAY_PEER_FOLDER"].map { URL(filePath: $0) }

    @Test(.enabled(if: folder != nil))
    func signaturesAreValidBetweenPeers() async throws {
        let folder = try #require(Self.folder)
        let lines = try String(contentsOf: folder.appending(path: "theirs.jsonl"), encoding: .utf8).split(
            separator: "\n")
        let texts = try JSONDecoder().decode(
            [String: String].self, from: Data(contentsOf: folder.appending(path: "keys.json")))
        var keys: [String: SigningKey] = [:]
        for (name, text) in texts {
            keys[name] = try SigningKey(try #require(SignatureAlgorithm(name: name)), text: text)
        }
        #expect(Set(keys.values.map(\.algorithm)) == Set(SignatureAlgorithm.all))
        var ours = ""
        for line in lines {
            var message = try JSONDecoder().decode(Message.self, from: Data(line.utf8))
            var fields = try fields(message.fields)
            let key = try #require(keys[message.algorithm])
            let theirs = try #require(fields.signatures().first)
            let base = try context(of: message, fields).signatureBase(for: theirs.parameters)
            #expect(key.verificationKey.isValid(theirs.signature, of: base), "\(String(decoding: base, as: UTF8.self))")
            // The same components in another order, signed here.
            (fields[.signature], fields[.signatureInput]) = (nil, nil)
            let parameters = try SignatureParameters(
                components: CoveredComponents(theirs.parameters.components.identifiers.reversed()),
                created: theirs.parameters.created, nonce: "n \\ \"", keyID: "k", tag: "t")
            fields.append(try await context(of: message, fields).signature(parameters, by: key))
            message.fields = fields.map { field in
                let scalars = field.withUnsafeBytesOfValue { bytes in bytes.map { UnicodeScalar($0) } }
                return [field.name.rawName, String(String.UnicodeScalarView(scalars))]
            }
            ours += String(decoding: try JSONEncoder().encode(message), as: UTF8.self) + "\n"
        }
        #expect(lines.count > 1_000)
        try Data(ours.utf8).write(to: folder.appending(path: "ours.jsonl"))
    }

    /// Fields whose values have a character for each byte, as the peer has them.
    private func fields(_ lines: [[String]]) throws -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let bytes = line[1].unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            fields.append(HTTPField(name: try #require(HTTPField.Name(line[0])), lenientValue: bytes))
        }
        return fields
    }

    /// The request or the response with some fields.
    private func context(of message: Message, _ fields: HTTPFields) throws -> SignatureContext {
        guard let status = message.status else { return SignatureContext(try request(of: message, fields)) }
        let request = try request(of: message, self.fields(message.requestFields ?? []))
        return SignatureContext(HTTPResponse(status: .init(code: status), headerFields: fields), to: request)
    }

    /// The URL is split here as text, so that nothing of it is decoded.
    private func request(of message: Message, _ fields: HTTPFields) throws -> HTTPRequest {
        let rest = message.url.dropFirst("https://".count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        return HTTPRequest(
            method: try #require(HTTPRequest.Method(message.method)), scheme: "https", authority: String(rest[..<end]),
            path: rest[end...].hasPrefix("/") ? String(rest[end...]) : "/" + rest[end...], headerFields: fields)
    }
}
