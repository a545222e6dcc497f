import Foundation
import Testing

@testable import RunwayCommand

/// `runway keys`, as a process of its own.
@Suite(.timeLimit(.minutes(10)))
struct KeysTests {
    static let algorithms = [
        "ed25519", "ecdsa-p256-sha256", "ecdsa-p384-sha384", "rsa-pss-sha512", "rsa-v1_5-sha256", "hmac-sha256",
    ]
    private static let request = Array("POST /x HTTP/1.1\nHost: a.example\n\nbody".utf8)

    /// What the file has as the key that signs.
    private func secret(in file: String, of id: String) throws -> String {
        let keys = try #require(
            try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [String: [[String: Any]]])
        let entry = try #require(keys["keys"]?.first { $0["id"] as? String == id })
        return try #require((entry["privateKey"] ?? entry["key"]) as? String)
    }

    @Test(arguments: algorithms)
    func madeKeySignsAndItsExportVerifies(algorithm: String) async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "keys.json").path
            let made = try await Tool.run(
                "keys", "make", file, "--key-id", "k-1", "--owner", "anna", "--alg", algorithm)
            #expect(made.status == 0, "\(made.errors)")
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let secret = try secret(in: file, of: "k-1")
            #expect(!(made.output + made.errors).contains(secret.dropFirst(40).prefix(20)))

            let signed = try await Tool.run("sign", "--key", file, "--message", input: Self.request)
            let isSecret = algorithm == "hmac-sha256"
            let export = try await Tool.run(
                Tool.path, ["keys", "export", file] + (isSecret ? ["--secrets"] : []), input: [], environment: [:])
            let server = try folder.privateFile("server.json", export.output)
            #expect(export.output.contains("privateKey") == false)
            let verified = try await Tool.run("verify", "--key", server, input: signed.bytes)
            #expect(verified.status == 0, "\(verified.output)\(verified.errors)\(signed.errors)")
            #expect(verified.output == "sig1: verified by the key k-1, \(algorithm), of anna\n")
            let again = try await Tool.run("sign", "--key", server, input: Self.request)
            #expect(again.status == (isSecret ? 0 : 2))
        }
    }

    @Test func noneOfManyChangesIsLost() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "keys.json").path
            #expect(try await Tool.run("keys", "make", file, "--key-id", "k-0").status == 0)
            for number in 1..<6 {
                #expect(try await Tool.run("keys", "make", file, "--add", "--key-id", "k-\(number)").status == 0)
            }
            let failures = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<6 {
                    group.addTask {
                        var tool: Tool
                        // On a machine that stands still the others may have the file for longer than one waits for it.
                        repeat {
                            tool = try await Tool.run("keys", "rotate", file, "k-\(number)", "--to", "n-\(number)")
                        } while tool.errors.hasSuffix("is being changed by another process; try again.\n")
                        return tool.status == 0 ? nil : tool.errors
                    }
                }
                return try await group.reduce(into: [String]()) { $0 += $1.map { [$0] } ?? [] }
            }
            #expect(failures.isEmpty)
            let keys = try #require(
                try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file)))
                    as? [String: [[String: Any]]])
            let entries = try #require(keys["keys"])
            #expect(Set(entries.compactMap { $0["id"] as? String }).count == 12)
            #expect(entries.count { $0["notAfter"] != nil } == 6)
        }
    }

    @Test func fileThatIsBeingChangedIsWaitedFor() async throws {
        try await withTemporaryFolder { folder in
            let file = try folder.privateFile("keys.json", "{}")
            let lock = try KeyFileLock(path: file)
            #expect(throws: CommandFailure.self) { try KeyFileLock(path: file, upTo: .zero) }
            withExtendedLifetime(lock) {}
        }
    }

    @Test func fileIsNeverOverwritten() async throws {
        try await withTemporaryFolder { folder in
            let file = try folder.privateFile("keys.json", "precious")
            let tool = try await Tool.run("keys", "make", file, "--key-id", "k")

            #expect(tool.status == 2 && tool.errors.contains("not overwritten"))
            #expect(try String(contentsOfFile: file, encoding: .utf8) == "precious")
        }
    }

    @Test func secretIsPrintedOnlyOnRequest() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "keys.json").path
            let made = try await Tool.run("keys", "make", file, "--key-id", "a", "--alg", "hmac-sha256")
            #expect(made.output.isEmpty)
            let added = try await Tool.run(
                "keys", "make", file, "--key-id", "b", "--alg", "hmac-sha256", "--add", "--print-secret")
            #expect(added.output == (try secret(in: file, of: "b")) + "\n")
            let refused = try await Tool.run("keys", "export", file)
            #expect(refused.status == 2 && refused.bytes.isEmpty && refused.errors.contains("--secrets"))
            let list = try await Tool.run("keys", "list", file)
            #expect(!list.output.contains(try secret(in: file, of: "a")))
            let twice = try await Tool.run("keys", "make", file, "--key-id", "b", "--add")
            #expect(twice.status == 2 && twice.errors.contains("already"))
        }
    }

    @Test func rotationHasAnOverlap() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "keys.json").path
            _ = try await Tool.run("keys", "make", file, "--key-id", "old", "--alg", "ed25519", "--owner", "anna")
            let rotated = try await Tool.run(
                "keys", "rotate", file, "old", "--to", "new", "--not-before", "1790000000", "--overlap", "30m")
            #expect(rotated.status == 0, "\(rotated.errors)")

            // Both are accepted in the overlap, and one before and after it.
            for (id, times) in [("old", [1_789_999_999, 1_790_001_800]), ("new", [1_790_000_000, 1_790_001_801])] {
                for time in times {
                    let signed = try await Tool.run(
                        "sign", "--key", file, "--key-id", id, "--created", "\(time)", "--message", input: Self.request)
                    let tool = try await Tool.run("verify", "--key", file, "--at", "\(time)", input: signed.bytes)
                    #expect(tool.status == 0, "\(id) \(time) \(tool.output)")
                }
            }
            for (id, time) in [("old", 1_790_001_801), ("new", 1_789_999_999)] {
                let signed = try await Tool.run(
                    "sign", "--key", file, "--key-id", id, "--created", "\(time)", "--message", input: Self.request)
                #expect(signed.errors.contains("not active"))
                let tool = try await Tool.run("verify", "--key", file, "--at", "\(time)", input: signed.bytes)
                #expect(tool.status == 1 && tool.output.contains("inactiveKey"))
            }
            let chosen = try await Tool.run(
                "sign", "--key", file, "--created", "1790000001", input: Self.request)
            #expect(chosen.output.contains("keyid=\"new\""))
        }
    }

    @Test func successorMustCoverWhatItsPredecessorMust() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "keys.json").path
            let made = try await Tool.run("keys", "make", file, "--key-id", "old", "--covers", "x-shop,@scheme")
            #expect(made.status == 0, "\(made.errors)")
            _ = try await Tool.run("keys", "rotate", file, "old", "--to", "new")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.components(separatedBy: "x-shop").count == 3, "both have it")
            let signed = try await Tool.run("sign", "--key", file, "--key-id", "new", "--message", input: Self.request)
            let tool = try await Tool.run("verify", "--key", file, input: signed.bytes)
            #expect(tool.status == 1 && tool.output.contains("coverage"))
        }
    }

    /// An identifier becomes part of a program: no text of it may end a literal or a comment.
    @Test(arguments: ["a\"; evil() //", "a\nevil()", "a\\(evil())", "", "\u{E4}"])
    func keyWithOddIdentifierIsNotEmbedded(id: String) async throws {
        try await withTemporaryFolder { folder in
            let key = ["id": id, "alg": "hmac-sha256", "owner": "a", "key": "cnVud2F5IHRlc3Qgc2VjcmV0IDAxMjM0NTY3ODk="]
            let json = try JSONSerialization.data(withJSONObject: ["keys": [key]])
            let file = try folder.privateFile("keys.json", String(decoding: json, as: UTF8.self))
            #expect(try await Tool.run("keys", "list", file).status == 0)
            let tool = try await Tool.run("keys", "embed", file, id)
            #expect(tool.status == 2 && tool.bytes.isEmpty && tool.errors.contains("identifier"), "\(tool.errors)")
        }
    }

    @Test func revokedKeyIsRefused() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "keys.json").path
            _ = try await Tool.run("keys", "make", file, "--key-id", "k")
            let signed = try await Tool.run("sign", "--key", file, "--message", input: Self.request)
            #expect(try await Tool.run("keys", "revoke", file, "k").status == 0)
            let tool = try await Tool.run("verify", "--key", file, input: signed.bytes)
            #expect(tool.status == 1 && tool.output.contains("inactiveKey"))
            #expect(try await Tool.run("keys", "list", file).output.contains("revoked"))
            #expect(try await Tool.run("sign", "--key", file, input: Self.request).errors.contains("no active key"))
            #expect(try await Tool.run("keys", "rotate", file, "k", "--to", "l").status == 2)
        }
    }

    @Test(arguments: [
        ["keys", "make", "KEYS", "--key-id", "a b"], ["keys", "make", "KEYS", "--key-id", "a", "--alg", "rot13"],
        ["keys", "make", "/no/such/folder/k", "--key-id", "a"], ["keys", "list", "/no/such/file"],
        ["keys", "list", "DAMAGED"], ["keys", "rotate", "KEYS", "other", "--to", "b"],
        ["keys", "rotate", "KEYS", "k", "--to", "b", "--overlap", "soon"], ["keys", "revoke", "KEYS", "other"],
        ["keys", "embed", "KEYS", "k", "--name", "no name"], ["keys", "embed", "KEYS", "other"],
        ["sign", "--key", "DAMAGED"], ["sign", "--key", "KEYS", "--key-id", "other"],
        ["sign", "--key", "KEYS", "--way", "digest"], ["sign", "--key", "KEYS", "--way", "sealed"],
        ["sign", "--key", "KEYS", "--components", "@method @method"], ["sign", "--key", "KEYS", "--created", "-1"],
        ["sign", "--key", "KEYS", "--base", "--json"], ["sign", "--key", "KEYS", "--", "wget", "x"],
        ["verify", "--key", "KEYS", "--loose", "--at", "1"], ["call", ":1/x", "--tag", "app"],
    ])
    func whatCannotBeUsedEndsWithTwo(arguments: [String]) async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appending(path: "keys.json").path
            _ = try await Tool.run("keys", "make", file, "--key-id", "k")
            let damaged = try folder.privateFile("damaged.json", "{\"keys\": [")
            let before = try Data(contentsOf: URL(filePath: file))
            let words = arguments.map { ["KEYS": file, "DAMAGED": damaged][$0] ?? $0 }
            let tool = try await Tool.run(Tool.path, words, input: Self.request, environment: [:])

            #expect(tool.status == 2, "\(tool.output)")
            #expect(tool.bytes.isEmpty && tool.errors.hasPrefix("runway: "), "\(tool.errors)")
            #expect(tool.errors.count { $0 == "\n" } == 1, "\(tool.errors)")
            #expect(try Data(contentsOf: URL(filePath: file)) == before)
        }
    }
}
