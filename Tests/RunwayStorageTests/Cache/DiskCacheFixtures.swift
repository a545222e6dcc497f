import Foundation
import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway
@testable import RunwayStorage

/// A service whose responses the tests store.
enum Shelf: APIService {
    static let name = "shelf"
    static let environments: [ServiceEnvironment: String] = [.release: "https://shelf.test"]
}

/// A folder of its own for each test, and what the caches in it report.
final class CacheFolder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "runway-cache-\(UUID().uuidString)")
    /// Guards what was reported.
    private let problems = Mutex<[StorageError]>([])

    deinit { try? FileManager.default.removeItem(at: url) }

    var reports: [String] { problems.withLock { $0.map(\.description) } }
    var kinds: [StorageError.Kind] { problems.withLock { $0.map(\.kind) } }
    var database: URL { url.appending(path: "cache.sqlite") }
    var bodies: URL { url.appending(path: "bodies") }

    func cache(
        _ limits: DiskCacheLimits = DiskCacheLimits(), sealing: (any PayloadSealing)? = nil
    ) -> DiskCache {
        DiskCache(in: url, limits: limits, sealing: sealing) { [weak self] problem in
            self?.problems.withLock { $0.append(problem) }
        }
    }

    /// All files that the cache made, by their paths in the folder.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: url.path).filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: url.appending(path: $0).path, isDirectory: &isFolder)
                && !isFolder.boolValue
        }
    }

    /// Returns whether any file contains some bytes.
    func contains(_ text: String) throws -> Bool {
        try files().contains { try Data(contentsOf: url.appending(path: $0)).range(of: Data(text.utf8)) != nil }
    }
}

extension CacheTierKey {
    /// The key of a path, for an account.
    static func named(_ name: String, account: String? = nil) -> CacheTierKey {
        CacheTierKey(
            HTTPCacheURI(HTTPRequest(method: .get, scheme: "https", authority: "shelf.test", path: "/\(name)")),
            CachePartition(service: Shelf.self, environment: .release, account: account))
    }
}

extension CacheTierEntry {
    /// An entry whose bytes follow from a number: another number has other bytes at every place.
    static func numbered(_ number: Int, byteCount: Int) -> CacheTierEntry {
        var random = SeededGenerator(seed: UInt64(number))
        let bytes = (0..<byteCount / 8 + 1).flatMap { _ in
            withUnsafeBytes(of: random.next()) { Array($0) }
        }
        return CacheTierEntry(metadata: Array("number \(number)".utf8), body: Array(bytes.prefix(byteCount)))
    }
}

extension DiskCache {
    func store(_ entry: CacheTierEntry, for key: CacheTierKey) async throws {
        try await apply([.store(entry, for: key)])
    }

    /// The entry of a key; `nil` also if the cache fails.
    func found(_ key: CacheTierKey) async -> CacheTierEntry? { try? await find(key) }
}
