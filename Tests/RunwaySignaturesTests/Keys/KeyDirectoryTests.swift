import Crypto
import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import RunwaySignatures

/// Rotation, revocation and the file of keys.
struct KeyDirectoryTests {
    private static let now = Exchange.now

    @Test func bothKeysAreAcceptedDuringTheOverlap() async throws {
        var exchange = try Exchange()
        let successor = KeyRecord(id: "k-2", key: exchange.key.verificationKey, owner: "anna")
        #expect(exchange.keys.rotate("k-1", to: successor, at: Self.now, overlap: .seconds(60)))
        exchange.nonces = NonceMemory(startedAt: Self.now - .seconds(600))
        for (seconds, id, reason) in [
            (0, "k-1", nil), (60, "k-1", nil), (61, "k-1", SignatureRefusal.Reason.inactiveKey), (0, "k-2", nil),
            (61, "k-2", nil),
        ] {
            exchange.keyID = id
            exchange.nonce = "\(id)-\(seconds)"
            #expect(try await exchange.refusal(at: Self.now + .seconds(seconds)) == reason)
        }
    }

    @Test func rotationNeverProlongsAKey() throws {
        let exchange = try Exchange()
        let key = exchange.key.verificationKey
        exchange.keys.insert(KeyRecord(id: "k-1", key: key, owner: "anna", notAfter: Self.now + .seconds(5)))
        #expect(
            exchange.keys.rotate(
                "k-1", to: KeyRecord(id: "k-2", key: key, owner: "anna"), at: Self.now, overlap: .seconds(60)))
        #expect(exchange.keys.record(forKeyID: "k-1")?.notAfter == Self.now + .seconds(5))
        exchange.keys.revoke("k-2")
        #expect(
            !exchange.keys.rotate(
                "k-2", to: KeyRecord(id: "k-3", key: key, owner: "anna"), at: Self.now, overlap: .zero))
        #expect(exchange.keys.record(forKeyID: "k-3") == nil)
    }

    @Test func rotationRevivesNoKey() throws {
        let exchange = try Exchange()
        let record = KeyRecord(id: "k-2", key: exchange.key.verificationKey, owner: "anna")
        exchange.keys.insert(record)
        exchange.keys.revoke("k-2")
        #expect(!exchange.keys.rotate("k-1", to: record, at: Self.now, overlap: .zero))
        #expect(exchange.keys.record(forKeyID: "k-2")?.isRevoked == true)
        #expect(exchange.keys.record(forKeyID: "k-1")?.notAfter == nil, "Nothing has changed")
    }

    @Test func entriesShowNoKey() throws {
        let key = try SigningKey.hmac(SymmetricKey(data: Array("runway test secret 0123456789".utf8)))
        let device = SigningKey.p256(P256.Signing.PrivateKey())
        for (key, entry) in [key, device].map({ ($0, KeyEntry(id: "k-1", key: $0, owner: "anna")) }) {
            let secret = try #require(entry.signingText)
            var dumped = ""
            dump(KeyFileContents(keys: [entry]), to: &dumped)
            for text in ["\(entry)", String(reflecting: [entry]), dumped] {
                #expect(text.contains("k-1") && text.contains(key.algorithm.name))
                #expect(!text.contains(secret.suffix(40).prefix(20)))
            }
        }
    }

    @Test func revocationIsNamedOnlyUnderAValidSignature() async throws {
        let exchange = try Exchange()
        exchange.keys.revoke("k-1")
        #expect(try await exchange.refusal() == .inactiveKey)
        var forged = try exchange.signed()
        forged.method = .put
        #expect(try await exchange.refusal(forged) == .invalid)
        #expect(!exchange.keys.revoke("unknown"))
    }

    @Test func keysBeforeTheirTimeAreRefused() async throws {
        let exchange = try Exchange()
        exchange.keys.insert(
            KeyRecord(id: "k-1", key: exchange.key.verificationKey, owner: "anna", notBefore: Self.now + .seconds(1)))
        #expect(try await exchange.refusal() == .inactiveKey)
    }

    /// Signatures by random keys at random times against a list of what each key was allowed at the time.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func randomRotationsAgreeWithAModel(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var exchange = try Exchange()
        exchange.nonces = NonceMemory(startedAt: Self.now - .seconds(60))
        var ends: [String: Int] = ["k-1": .max]
        var clock = 0
        for step in 2..<300 {
            clock += Int.random(in: 0...20, using: &random)
            let time = Self.now + .seconds(clock)
            let id = "k-\(Int.random(in: 1..<step, using: &random))"
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let record = KeyRecord(id: "k-\(step)", key: exchange.key.verificationKey, owner: "anna")
                if exchange.keys.rotate(id, to: record, at: time, overlap: .seconds(50)) {
                    ends["k-\(step)"] = .max
                    ends[id] = min(try #require(ends[id]), clock + 50)
                }
            case 1 where ends.count > 3:
                if exchange.keys.revoke(id) { ends[id] = -1 }
            default:
                (exchange.keyID, exchange.nonce, exchange.created) = (id, "n\(step)", time)
                let expected: SignatureRefusal.Reason? =
                    ends[id].map { clock <= $0 ? nil : .inactiveKey } ?? .unknownKey
                #expect(try await exchange.refusal(at: time) == expected, "seed \(seed), step \(step)")
            }
        }
    }

    // MARK: - Files

    private func withFile(_ text: String, permissions: Int = 0o600, _ body: (URL) throws -> Void) throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "keys-\(UUID().uuidString).json")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(text.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: file.path)
        try body(file)
    }

    private static let secret = #"{"id": "s", "alg": "hmac-sha256", "owner": "o", "key": "c2VjcmV0c2VjcmV0c2VjcmV0"}"#

    @Test func fileHasKeysOfEveryAlgorithm() throws {
        let p256 = P256.Signing.PrivateKey().publicKey.pemRepresentation.replacing("\n", with: "\\n")
        let ed25519 = Curve25519.Signing.PrivateKey().publicKey.rawRepresentation.base64EncodedString()
        try withFile(
            """
            {"keys": [\(Self.secret), {"id": "p", "alg": "ecdsa-p256-sha256", "owner": "o", "key": "\(p256)", "revoked": true},
             {"id": "e", "alg": "ed25519", "owner": "o", "key": "\(ed25519)", "notBefore": 1, "notAfter": 2}]}
            """
        ) { file in
            let directory = try FileKeyDirectory(file)
            #expect(directory.all.map(\.id) == ["e", "p", "s"])
            #expect(directory.record(forKeyID: "e")?.notAfter == UnixTime(seconds: 2))
            #expect(directory.record(forKeyID: "p")?.isRevoked == true)
            #expect(directory.record(forKeyID: "s")?.key.algorithm == .hmacSHA256)
            try Data("{".utf8).write(to: file)
            #expect(throws: KeyFileError.self) { try directory.reload() }
            #expect(directory.all.count == 3)
            try Data(#"{"keys": []}"#.utf8).write(to: file)
            try directory.reload()
            #expect(directory.all.isEmpty)
        }
    }

    @Test func requiredComponentsAreReadFromAFile() throws {
        let covers = #", "covers": ["x-shop", "@scheme", "\"content-digest\";sf"], "notAfter": null}"#
        try withFile(#"{"keys": [\#(Self.publicKey.dropLast())\#(covers)]}"#) { file in
            let record = try #require(try FileKeyDirectory(file).record(forKeyID: "e"))
            #expect(
                record.requiredComponents.map(\.serialized) == [#""x-shop""#, #""@scheme""#, #""content-digest";sf"#])
            var entry = try #require(try KeyFile(file).entries().first)
            let covers = entry.covers
            entry.require(record.requiredComponents)
            #expect(entry.covers == covers)
        }
        for covers in [#"["x;=1"]"#, #"["x", "x"]"#, #"["\"x\" \"y\""]"#, #"["\"x\") y=(\"y\""]"#, #""x""#] {
            try withFile(#"{"keys": [\#(Self.publicKey.dropLast()), "covers": \#(covers)}]}"#) { file in
                #expect(throws: KeyFileError.self, "\(covers)") { try FileKeyDirectory(file) }
            }
        }
    }

    @Test func unknownMembersAreRefused() throws {
        try withFile(#"{"keys": [\#(Self.secret), \#(Self.publicKey.dropLast()), "notafter": 1}]}"#) { file in
            #expect(throws: KeyFileError(reason: "e has a member that is not known")) { try FileKeyDirectory(file) }
        }
        try withFile(#"{"keys": [\#(Self.publicKey)], "others": []}"#) { file in
            #expect(throws: KeyFileError(reason: "the file has a member besides keys")) { try FileKeyDirectory(file) }
        }
    }

    @Test(arguments: [
        "", "[]", #"{"keys": [{"id": "a"}]}"#, #"{"keys": [\#(secret), \#(secret)]}"#,
        #"{"keys": [{"id": "a", "alg": "none", "owner": "o", "key": ""}]}"#,
        #"{"keys": [{"id": "a", "alg": "ed25519", "owner": "o", "key": "c2VjcmV0"}]}"#,
        #"{"keys": [{"id": "a", "alg": "hmac-sha256", "owner": "o", "key": "c2VjcmV0"}]}"#,
        #"{"keys": [{"id": "a", "alg": "ecdsa-p256-sha256", "owner": "o", "key": "c2VjcmV0"}]}"#,
    ])
    func brokenFilesAreRefusedWithoutQuotingAKey(_ text: String) throws {
        try withFile(text) { file in
            let error = #expect(throws: KeyFileError.self) { try FileKeyDirectory(file) }
            #expect(error?.description.contains("c2VjcmV0") == false)
        }
    }

    private static let publicKeys = #"{"keys": [\#(publicKey)]}"#
    private static let publicKey =
        #"{"id": "e", "alg": "ed25519", "owner": "o", "key": "\#(Data(repeating: 1, count: 32).base64EncodedString())"}"#

    @Test func aSecretThatOthersCanReadIsRefused() throws {
        for permissions in [0o644, 0o640, 0o604, 0o601] {
            try withFile(#"{"keys": [\#(Self.secret)]}"#, permissions: permissions) { file in
                #expect(throws: KeyFileError.self) { try FileKeyDirectory(file) }
            }
        }
    }

    @Test func keysThatOthersCanWriteAreRefused() throws {
        for (permissions, isAccepted) in [(0o644, true), (0o444, true), (0o664, false), (0o646, false), (0o622, false)]
        {
            try withFile(Self.publicKeys, permissions: permissions) { file in
                #expect(((try? FileKeyDirectory(file)) != nil) == isAccepted, "\(String(permissions, radix: 8))")
            }
        }
    }

    @Test(.enabled(if: geteuid() == 0))
    func aFileOfAnotherUserIsRefused() throws {
        try withFile(Self.publicKeys) { file in
            #expect(chown(file.path, 65_534, gid_t.max) == 0)
            #expect(throws: KeyFileError.self) { try FileKeyDirectory(file) }
        }
    }

    @Test func onlyRegularFilesAreRead() throws {
        try withFile(Self.publicKeys) { file in
            let link = file.appendingPathExtension("link")
            defer { try? FileManager.default.removeItem(at: link) }
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
            #expect(throws: KeyFileError.self) { try FileKeyDirectory(link) }
            let pipe = file.appendingPathExtension("pipe")
            defer { try? FileManager.default.removeItem(at: pipe) }
            #expect(mkfifo(pipe.path, 0o600) == 0)
            #expect(throws: KeyFileError.self) { try FileKeyDirectory(pipe) }
            #expect(throws: KeyFileError.self) { try FileKeyDirectory(file.deletingLastPathComponent()) }
        }
    }

    @Test func aFileThatIsTooLargeIsRefused() throws {
        let blanks = String(repeating: " ", count: 16 * 1_024 * 1_024)
        try withFile(Self.publicKeys + blanks) { file in
            #expect(throws: KeyFileError(reason: "the file is too large")) { try FileKeyDirectory(file) }
        }
    }
}
