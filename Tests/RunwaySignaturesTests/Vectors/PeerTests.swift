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
            var request = try request(of: message)
            let key = try #require(keys[message.algorithm])
            let theirs = try #require(request.headerFields.signatures().first)
            let base = try SignatureContext(request).signatureBase(for: theirs.parameters)
            #expect(key.verificationKey.isValid(theirs.signature, of: base), "\(String(decoding: base, as: UTF8.self))")
            // The same components in another order, signed here.
            (request.headerFields[.signature], request.headerFields[.signatureInput]) = (nil, nil)
            let parameters = try SignatureParameters(
                components: CoveredComponents(theirs.parameters.components.identifiers.reversed()),
                created: theirs.parameters.created, nonce: "n \\ \"", keyID: "k", tag: "t")
            request.headerFields.append(try await SignatureContext(request).signature(parameters, by: key))
            message.fields = request.headerFields.map { [$0.name.rawName, $0.value] }
            ours += String(decoding: try JSONEncoder().encode(message), as: UTF8.self) + "\n"
        }
        #expect(lines.count > 1_000)
        try Data(ours.utf8).write(to: folder.appending(path: "ours.jsonl"))
    }

    /// The URL is split here as text, so that nothing of it is decoded.
    private func request(of message: Message) throws -> HTTPRequest {
        let rest = message.url.dropFirst("https://".count)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var request = HTTPRequest(
            method: try #require(HTTPRequest.Method(message.method)), scheme: "https", authority: String(rest[..<end]),
            path: rest[end...].hasPrefix("/") ? String(rest[end...]) : "/" + rest[end...])
        for field in message.fields {
            request.headerFields.append(HTTPField(name: try #require(HTTPField.Name(field[0])), value: field[1]))
        }
        return request
    }
}
