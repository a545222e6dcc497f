import Crypto
import Testing

@testable import RunwaySignatures

/// Texts that `String` takes for one, and that are two for a database.
struct ExactTextTests {
    private let composed = "\u{E9}"
    private let decomposed = "e\u{301}"

    @Test func canonicallyEquivalentTextsDiffer() {
        #expect(composed == decomposed)
        #expect(ExactText(composed) != ExactText(decomposed))
        #expect(Set([composed, decomposed, "e", ""].map(ExactText.init)).count == 4)
        #expect(ExactText("") == ExactText(String()) && ExactText(composed) == ExactText("\u{E9}"))
        #expect(!composed.isExactly(decomposed) && composed.isExactly("\u{E9}") && !composed.isExactly(nil))
    }

    @Test func orderIsThatOfBytes() {
        let texts = [composed, decomposed, "z", "", "\u{1F600}", "\u{FFFD}"]
        #expect(
            texts.map(ExactText.init).sorted().map { Array($0.text.utf8) }
                == texts.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    }

    @Test func directoryTellsIdentifiersApart() throws {
        let key = try VerificationKey.hmac(SymmetricKey(size: .bits256))
        let keys = InMemoryKeyDirectory([KeyRecord(id: composed, key: key, owner: "anna")])
        #expect(keys.record(forKeyID: decomposed) == nil)
        keys.insert(KeyRecord(id: decomposed, key: key, owner: "ben"))
        #expect(keys.record(forKeyID: composed)?.owner == "anna")
        #expect(keys.revoke(decomposed))
        #expect(keys.record(forKeyID: composed)?.isRevoked == false)
        keys.remove(decomposed)
        #expect(keys.all.map(\.owner) == ["anna"])
    }

    @Test func noncesOfEquivalentKeysAreTwo() {
        let now = UnixTime(seconds: 1_790_000_000)
        let memory = NonceMemory(startedAt: now - .seconds(100))
        for (value, keyID) in [("n", composed), ("n", decomposed), (composed, "k"), (decomposed, "k")] {
            let nonce = Nonce(value: value, keyID: keyID, created: now, expires: now + .seconds(60))
            #expect(memory.claim(nonce, at: now) == .claimed)
            #expect(memory.claim(nonce, at: now) == .replayed)
        }
    }
}
