import Foundation
import RunwaySignatures

/// The bytes of a nonce in memory, and the cost of a claim while there are a million.
enum NonceCost {
    static func measure() {
        let now = VerifyingServer.now
        let memory = NonceMemory(
            startedAt: now - .seconds(3_600), maximumNonces: 2_000_000, maximumNoncesPerKey: 2_000_000)
        func claim(_ number: Int) -> NonceClaim {
            // Of the two minutes in which nonces are remembered, in the order of time.
            let created = now - .seconds(120 - number / 10_000 % 120)
            return memory.claim(
                Nonce(
                    value: "nonce-\(number)", keyID: "k-\(number % 1_000)", created: created,
                    expires: created + .seconds(150)), at: now)
        }
        let before = residentBytes
        let start = ContinuousClock.now
        for number in 0..<1_000_000 where claim(number) != .claimed { print("a nonce was not claimed") }
        let filling = start.duration(to: .now) / .seconds(1)
        let bytes = residentBytes - before
        let second = ContinuousClock.now
        for number in 1_000_000..<1_100_000 where claim(number) != .claimed { print("a nonce was not claimed") }
        let late = second.duration(to: .now) / .seconds(1)
        print("nonce memory: \(memory.count) nonces of 1000 keys")
        print(
            String(
                format: "%.0f bytes a nonce; %.2f µs a claim while it fills, %.2f µs at a million", Double(bytes) / 1e6,
                filling, late * 10))
    }

    /// What the process has in memory, by `/proc`.
    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (Int(text.split(separator: " ").dropFirst().first ?? "0") ?? 0) * 4_096
    }
}
