import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// Batches of changes, lookups and launches in random order, against a list in the order of use.
struct DiskCacheModelTests {
    private struct Stored {
        var name: String
        var account: String?
        var entry: CacheTierEntry
        var byteCount: Int { entry.metadata.count + entry.body.count + 512 }
    }

    @Test(arguments: 1...20) func theCacheEvictsAsItsModel(round: Int) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        let folder = CacheFolder()
        let limits = DiskCacheLimits(
            maximumCount: Int.random(in: 1...8, using: &random),
            maximumByteCount: Int.random(in: 0...200_000, using: &random))
        var cache = folder.cache(limits)
        /// The least recently used first.
        var model: [Stored] = []
        for number in 0..<60 {
            let name = ["a", "b", "c", "d", "e"].randomElement(using: &random) ?? ""
            let account = ["ann", "bob", nil].randomElement(using: &random) ?? nil
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<8:
                let index = model.firstIndex { $0.name == name && $0.account == account }
                let expected = index.map { model.remove(at: $0) }
                if let expected { model.append(expected) }
                let found = try await cache.find(.named(name, account: account))
                #expect(found == expected?.entry, "seed \(seed), step \(number)")
            case 8..<16:
                var changes: [CacheTierChange] = []
                for part in 0..<Int.random(in: 1...3, using: &random) {
                    let byteCount = [0, 200, 16_300, 16_500, 60_000].randomElement(using: &random) ?? 0
                    let entry = CacheTierEntry.numbered(number * 4 + part, byteCount: byteCount)
                    let account = part == 0 ? account : "bob"
                    changes.append(.store(entry, for: .named(name, account: account)))
                    model.removeAll { $0.name == name && $0.account == account }
                    let new = Stored(name: name, account: account, entry: entry)
                    if new.byteCount > limits.maximumByteCount { continue }
                    model.append(new)
                    while model.count > limits.maximumCount
                        || model.reduce(0, { $0 + $1.byteCount }) > limits.maximumByteCount
                    {
                        model.removeFirst()
                    }
                }
                try await cache.apply(changes)
            case 16:
                try await cache.apply([.removeTarget("https://shelf.test/\(name)")])
                model.removeAll { $0.name == name }
            case 17:
                try await cache.apply([.clear(.account(account, service: nil))])
                model.removeAll { $0.account == account }
            default:
                await cache.close()
                cache = folder.cache(limits)
            }
        }
        _ = try await cache.find(.named("none"))
        #expect(cache.count == model.count, "seed \(seed)")
        #expect(cache.byteCount == model.reduce(0) { $0 + $1.byteCount }, "seed \(seed)")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.bodies.path).count
        let large = model.count { $0.byteCount - 512 > DiskCacheEntry.maximumRowByteCount }
        #expect(files == large, "seed \(seed)")
        #expect(folder.reports.isEmpty, "seed \(seed)")
    }
}
