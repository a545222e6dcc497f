import Crypto
import Testing

@testable import RunwaySignatures

/// HMAC with SHA-256 beside RFC 4231 §4 and swift-crypto.
struct KeyedSHA256Tests {
    private static let longKey = Array(repeating: 0xAA as UInt8, count: 131)

    /// The keys, the messages and the first bytes of the codes in hexadecimal digits.
    @Test(
        arguments: [
            (
                Array(repeating: 0x0B, count: 20), Array("Hi There".utf8),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                Array(repeating: 0xAA, count: 20), Array(repeating: 0xDD, count: 50),
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
            ),
            (
                Array(0x01...0x19), Array(repeating: 0xCD, count: 50),
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
            ),
            (
                Array(repeating: 0x0C, count: 20), Array("Test With Truncation".utf8),
                "a3b6167473100ee06e0c796c2955552b"
            ),
            (
                longKey, Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
            (
                longKey,
                Array(
                    "This is a test using a larger than block-size key and a larger than block-size data. The key needs to be hashed before being used by the HMAC algorithm."
                        .utf8), "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
            ),
        ] as [([UInt8], [UInt8], String)])
    func codesAreThoseOfRFC4231(key: [UInt8], message: [UInt8], code: String) {
        let keyed = KeyedSHA256(SymmetricKey(data: key))
        // The second code of a key is that of the second message alone.
        for _ in 0..<2 {
            let own = keyed.code(of: message)
            #expect(own.count == 32)
            #expect(String(decoding: Hex.encoded(own), as: UTF8.self).hasPrefix(code))
        }
    }

    @Test func codesAreThoseOfSwiftCrypto() {
        for length in [0, 1, 16, 63, 64, 65, 128, 200] {
            let secret = SymmetricKey(data: (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) })
            for count in [0, 1, 55, 56, 64, 300] {
                let message = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
                let expected = HMAC<SHA256>.authenticationCode(for: message, using: secret)
                #expect(KeyedSHA256(secret).code(of: message) == Array(expected))
            }
        }
    }

    @Test func onlyTheWholeCodeIsValid() {
        let keyed = KeyedSHA256(SymmetricKey(size: .bits256))
        let message = Array("base".utf8)
        let code = keyed.code(of: message)
        #expect(keyed.isValid(code, of: message))
        #expect(!keyed.isValid(code, of: message + [0]) && !keyed.isValid([], of: message))
        #expect(!keyed.isValid(Array(code.dropLast()), of: message) && !keyed.isValid(code + [0], of: message))
        for index in code.indices {
            var other = code
            other[index] ^= 0x80
            #expect(!keyed.isValid(other, of: message))
        }
    }

    @Test func descriptionHasNothingOfTheSecret() {
        let keyed = KeyedSHA256(SymmetricKey(data: Array("a secret that nobody may see".utf8)))
        var dumped = ""
        dump(keyed, to: &dumped)
        for text in ["\(keyed)", String(reflecting: keyed)] { #expect(text == "KeyedSHA256") }
        #expect(!dumped.contains("inner") && !dumped.contains("outer") && !dumped.contains("SHA256Digest"))
    }
}
