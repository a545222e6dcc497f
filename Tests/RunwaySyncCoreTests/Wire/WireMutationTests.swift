import RunwaySyncCore
import RunwaySyncSimulator
import Testing

/// Damaged messages: an error, or a valid message, which reads as it was written.
struct WireMutationTests {
    private func check<Value: WireCodable & Equatable>(_ bytes: [UInt8], as type: Value.Type) throws -> Bool {
        guard let value = try? Value(encoded: bytes) else { return false }
        let again = try Value(encoded: value.encoded())
        #expect(again == value)
        return true
    }

    private func damage<Value: WireCodable & Equatable>(_ value: Value, _ random: inout SeededRandom) throws {
        let bytes = value.encoded()
        for count in 0..<bytes.count where try check(Array(bytes.prefix(count)), as: Value.self) {
            Issue.record("a message of \(bytes.count) bytes is valid without its end, from \(count)")
        }
        for index in bytes.indices {
            var flipped = bytes
            flipped[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            _ = try check(flipped, as: Value.self)
            var without = bytes
            without.remove(at: index)
            _ = try check(without, as: Value.self)
        }
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func damagedMessagesAreErrorsOrValid(seed: UInt64) throws {
        var samples = WireSamples(seed: seed)
        var random = SeededRandom(seed: seed)
        switch seed % 6 {
        case 0: try damage(Packet(device: samples.id(), transactions: [samples.transaction()]), &random)
        case 1:
            try damage(
                LogPage(parts: [samples.part()], head: samples.number(), end: samples.end(), epoch: samples.id()),
                &random)
        case 2: try damage(KeyedRow(samples.key(), samples.row()), &random)
        case 3: try damage(samples.outgoing(), &random)
        case 4: try damage(samples.state(), &random)
        default: try damage(samples.history(), &random)
        }
    }
}
