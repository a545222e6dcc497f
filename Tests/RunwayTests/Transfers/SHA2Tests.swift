import Crypto
import RunwayTesting
import Testing

@testable import Runway

struct SHA2Tests {
    /// The examples of FIPS 180-4, and of no bytes.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
    ])
    func sha256IsThatOfTheStandard(_ text: String, _ digest: String) {
        var hash = SHA256Hash()
        hash.update(Array(text.utf8))
        #expect(hash.digest.hexadecimal == digest)
    }

    @Test(arguments: [
        (
            "abc",
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        )
    ])
    func sha512IsThatOfTheStandard(_ text: String, _ digest: String) {
        var hash = SHA512Hash()
        hash.update(Array(text.utf8))
        #expect(hash.digest.hexadecimal == digest)
    }

    /// Every length about the ends of two blocks, in parts of several sizes.
    @Test(arguments: [1, 7, 63, 64, 65, 127, 128, 129, 300])
    func digestsMatchAnotherLibraryForAnyParts(partByteCount: Int) {
        var random = SeededGenerator(seed: UInt64(partByteCount))
        for count in 0...300 {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            var (short, long) = (SHA256Hash(), SHA512Hash())
            for start in stride(from: 0, to: count, by: partByteCount) {
                let part = Array(bytes[start..<min(count, start + partByteCount)])
                short.update(part)
                long.update(part)
            }
            #expect(short.digest == Array(SHA256.hash(data: bytes)), "\(count) bytes")
            #expect(long.digest == Array(SHA512.hash(data: bytes)), "\(count) bytes")
        }
    }

    @Test func aDigestLeavesTheHashAsItWas() {
        var hash = SHA256Hash()
        hash.update(Array("a".utf8))
        _ = hash.digest
        hash.update(Array("bc".utf8))
        #expect(hash.digest == Array(SHA256.hash(data: Array("abc".utf8))))
    }
}
