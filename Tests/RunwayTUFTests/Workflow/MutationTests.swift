import Foundation
import RunwaySignatures
import RunwayTesting
import Testing

@testable import RunwayTUF

struct MutationTests {
    /// Mutates one document of a publication: flips bits, cuts and repeats bytes, and edits values of the signed part.
    private struct Mutator {
        var random: SeededGenerator

        mutating func mutation(of bytes: [UInt8]) throws -> [UInt8] {
            var bytes = bytes
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let index = bytes.indices.randomElement(using: &random) ?? 0
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 4: bytes.removeSubrange(range(in: bytes))
            case 5:
                let range = range(in: bytes)
                bytes.insert(contentsOf: bytes[range], at: bytes.indices.randomElement(using: &random) ?? 0)
            default:
                guard case .object(var document) = try CanonicalValue(reading: bytes, maximumByteCount: 1 << 20) else {
                    break
                }
                let name = Bool.random(using: &random) ? "signed" : "signatures"
                if let part = document[name] { document[name] = edited(part) }
                bytes = CanonicalValue.object(document).canonicalBytes
            }
            return bytes
        }

        private mutating func range(in bytes: [UInt8]) -> Range<Int> {
            let start = Int.random(in: bytes.indices, using: &random)
            return start..<min(bytes.endIndex, start + Int.random(in: 1..<40, using: &random))
        }

        /// Changes one value, somewhere in the tree.
        private mutating func edited(_ value: CanonicalValue) -> CanonicalValue {
            switch value {
            case .null: return .bool(false)
            case .bool(let value): return .bool(!value)
            case .integer(let number): return .integer(number &+ (Bool.random(using: &random) ? 1 : -1))
            case .string(let text):
                return .string(Bool.random(using: &random) ? text + "0" : String(text.dropFirst()) + "\u{0}")
            case .array(var elements):
                guard let index = elements.indices.randomElement(using: &random) else { return .array([.null]) }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: elements.remove(at: index)
                case 1: elements.append(elements[index])
                default: elements[index] = edited(elements[index])
                }
                return .array(elements)
            case .object(var object):
                guard let member = object.members.randomElement(using: &random) else {
                    object["x"] = .null
                    return .object(object)
                }
                switch Int.random(in: 0..<5, using: &random) {
                case 0: object[member.name] = nil
                case 1:
                    object[member.name] = nil
                    object[member.name + "x"] = member.value
                default: object[member.name] = edited(member.value)
                }
                return .object(object)
            }
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func noMutationIsAccepted(_ seed: UInt64) throws {
        var repository = TestRepository(keysPerRole: 2)
        for role in TopLevelRole.allCases { repository.thresholds[role] = 2 }
        var mutator = Mutator(random: SeededGenerator(seed: seed))
        let clean = try TrustedMetadata(repository)
        // Listings have only versions, so that signatures are the only protection.
        let publication = Publication(
            timestamp: try repository.timestamp(snapshot: .version(1)),
            snapshot: try repository.snapshot(files: ["targets.json": .version(1)]),
            targets: try repository.targets())
        let root = try repository.root(version: 2)
        var atSnapshot = clean
        _ = try atSnapshot.updateTimestamp(publication.timestamp)
        var atTargets = atSnapshot
        try atTargets.updateSnapshot(publication.snapshot)
        for round in 0..<Self.roundsPerSeed {
            var trusted = [clean, clean, atSnapshot, atTargets][round % 4]
            let bytes = [root, publication.timestamp, publication.snapshot, publication.targets][round % 4]
            let mutant = try mutator.mutation(of: bytes)
            if mutant == bytes { continue }
            let isAccepted: Bool =
                switch round % 4 {
                case 0: (try? trusted.updateRoot(mutant)) != nil
                case 1: (try? trusted.updateTimestamp(mutant)) != nil
                case 2: (try? trusted.updateSnapshot(mutant)) != nil
                default: (try? trusted.targets(mutant, of: trusted.topLevelTargets)) != nil
                }
            if isAccepted {
                Issue.record("seed \(seed), round \(round): \(String(decoding: mutant, as: UTF8.self))")
                return
            }
        }
    }

    /// `RUNWAY_TUF_MUTATIONS` asks for more: `Scripts/tuf-peer.sh mutations` runs 100,000.
    private static let roundsPerSeed =
        (ProcessInfo.processInfo.environment["RUNWAY_TUF_MUTATIONS"].flatMap { Int($0) } ?? 8_000) / 4
}
