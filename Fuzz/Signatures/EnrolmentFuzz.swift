// Targets for what a device states when it enrols a key, for files of keys, and for command lines. The readers of RunwayServer and
// RunwayCommand are compiled with this file (`Scripts/fuzz-signatures.sh`).

import Foundation

@testable import RunwaySignatures

enum EnrolmentFuzz {
    /// The body of a request that enrols a key, and evidence of App Attest.
    static func read(_ bytes: [UInt8]) {
        if let sent = try? EnrolmentRequest(bytes, account: "anna", authority: "api.example.com") {
            // What is signed has the seven lines, whatever the texts are.
            let lines = sent.statement.bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            precondition(lines.count == 7, "a text of a statement is more than a line")
            precondition(!sent.statement.key.isValid(sent.proof, of: sent.statement.bytes), "a proof is accepted")
            read(evidence: sent.evidence?.data ?? [])
        }
        read(evidence: bytes)
    }

    private static func read(evidence bytes: [UInt8]) {
        guard let value = CBORValue(bytes) else { return }
        precondition(depth(of: value) <= CBORValue.maximumDepth, "a value is too deep")
        _ = value["attStmt"]?["x5c"]?.byteStrings
        for hasKey in [false, true] {
            guard let data = AuthenticatorData(value["authData"]?.byteString ?? bytes, hasKey: hasKey) else { continue }
            precondition(data.appHash.count == 32 && (data.attested != nil) == hasKey, "a part is absent")
        }
    }

    private static func depth(of value: CBORValue) -> Int {
        switch value {
        case .array(let values): 1 + (values.map(depth).max() ?? 0)
        case .map(let members): 1 + (members.values.map(depth).max() ?? 0)
        default: 0
        }
    }

    /// The contents of a file of keys.
    static func readKeys(_ bytes: [UInt8]) {
        guard let contents = try? JSONDecoder().decode(KeyFileContents.self, from: Data(bytes)) else { return }
        for entry in contents.keys {
            _ = try? entry.signingKey()
            guard let record = try? entry.record(),
                let key = try? VerificationKey(record.key.algorithm, text: record.key.text)
            else { continue }
            precondition(key.text == record.key.text, "a key changes when it is written")
        }
    }

    /// A line that a shell divides into words.
    static func readWords(_ bytes: [UInt8]) {
        guard let words = try? ShellWords.split(String(decoding: bytes, as: UTF8.self)) else { return }
        // By scalars: a quote with a mark that combines is another `Character`, and the same quote to the shell.
        let quoted = words.map { word in
            let parts = word.unicodeScalars.split(separator: "'", omittingEmptySubsequences: false)
            return "'" + parts.map { String($0) }.joined(separator: "'\\''") + "'"
        }.joined(separator: " ")
        precondition((try? ShellWords.split(quoted)) == words, "words change when they are quoted")
    }
}
