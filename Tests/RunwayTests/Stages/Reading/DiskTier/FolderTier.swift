import Foundation
import Runway
import RunwayStorage
import Synchronization

/// A cache on disk in a folder of its own, which can be closed and opened again as by the next launch of an app.
final class FolderTier: CacheTier {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "runway-tier-\(UUID().uuidString)")
    /// Guards the cache that is open.
    private let cache: Mutex<DiskCache>

    init() { cache = Mutex(DiskCache(in: folder)) }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func find(_ key: CacheTierKey) async throws -> CacheTierEntry? { try await current.find(key) }

    func apply(_ changes: [CacheTierChange]) async throws { try await current.apply(changes) }

    /// Closes the cache, and opens another one in the folder.
    func relaunch() async {
        await current.close()
        cache.withLock { $0 = DiskCache(in: folder) }
    }

    private var current: DiskCache { cache.withLock { $0 } }
}
