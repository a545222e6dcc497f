import Testing

@testable import RunwaySignatures

/// Nonces of the client's own.
struct RandomNonceTests {
    @Test func everyNonceIsAnother() async {
        let texts = await withTaskGroup(of: [String].self) { group in
            for _ in 0..<8 { group.addTask { (0..<1_000).map { _ in RandomNonce().text } } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(texts).count == 8_000)
    }

    @Test func textHasTheBytesInHexadecimalDigits() {
        for _ in 0..<100 {
            let nonce = RandomNonce()
            #expect(nonce.bytes.count == 16)
            #expect(nonce.text == String(decoding: Hex.encoded(nonce.bytes), as: UTF8.self))
        }
    }

    /// Of 1,000 nonces a bit that is always the same would be one by chance in 2^999.
    @Test func noBitIsConstant() {
        var (ones, zeros) = ([UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 16))
        for _ in 0..<1_000 {
            for (index, byte) in RandomNonce().bytes.enumerated() {
                ones[index] |= byte
                zeros[index] |= ~byte
            }
        }
        #expect(ones.allSatisfy { $0 == 0xFF } && zeros.allSatisfy { $0 == 0xFF })
    }
}
