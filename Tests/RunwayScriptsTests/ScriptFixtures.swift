import Foundation
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayScripts

/// A folder for a marker file, which is removed with it.
final class MarkerFolder: Sendable {
    let marker: URL
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "scripts-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        marker = folder.appending(path: "marker")
    }

    deinit { try? FileManager.default.removeItem(at: folder) }
}

/// The records of a runtime.
final class Records: Sendable {
    /// Guards the records.
    private let list = Mutex<[ScriptRecord]>([])

    func add(_ record: ScriptRecord) { list.withLock { $0.append(record) } }

    var all: [ScriptRecord] { list.withLock { $0 } }

    /// The records as lines, once there are this many.
    func lines(_ count: Int) async throws -> [String] {
        try await waitUntil { self.all.count >= count }
        return all.map(\.description)
    }
}

extension ScriptBundle {
    /// A bundle as if it were verified.
    static func test(
        _ source: String, name: String = "shop", version: String = "1", file: String = "main.js"
    ) -> ScriptBundle {
        ScriptBundle(verified: name, version: version, runtime: "1", files: [ScriptFile(file, source)])
    }
}

extension ScriptDeadlines {
    /// Longer than any machine needs, for scripts that end.
    static let long = ScriptDeadlines(main: .seconds(60), elsewhere: .seconds(60), loading: .seconds(60))
}

extension ScriptDeadlines {
    init(main: Duration, elsewhere: Duration, loading: Duration) {
        self.init()
        (self.main, self.elsewhere, self.loading) = (main, elsewhere, loading)
    }
}

struct Listing: Codable {
    struct Item: Codable, Equatable {
        var name: String
        var price: Int?
    }

    var items: [Item]
}

struct Row: Codable, Equatable {
    var title: String
}
