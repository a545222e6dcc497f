import Synchronization

// developer.apple.com: URLResourceValues
public struct URLResourceValues: Sendable {
    // developer.apple.com: URLResourceValues.isExcludedFromBackup
    public var isExcludedFromBackup: Bool?
    public init() {}
}
extension URL {
    // developer.apple.com: URL.setResourceValues(_:). Linux's Foundation ignores what it can't set.
    public mutating func setResourceValues(_ values: URLResourceValues) throws {
        try FakeBackup.set(values.isExcludedFromBackup, path)
    }
}

/// The backup of the fakes' system.
public enum FakeBackup {
    private struct State {
        var excluded: Set<String> = []
        var refused: Set<String> = []
    }
    private static let state = Mutex(State())

    /// Whether a file or a folder is excluded.
    public static func isExcluded(_ path: String) -> Bool { state.withLock { $0.excluded.contains(path) } }

    /// Has every attempt to exclude a file or a folder fail.
    public static func refuse(_ path: String) { state.withLock { _ = $0.refused.insert(path) } }

    static func set(_ isExcluded: Bool?, _ path: String) throws {
        guard let isExcluded else { return }
        let isRefused = state.withLock { $0.refused.contains(path) }
        guard !isRefused, FileManager.default.fileExists(atPath: path) else { throw CocoaError(.fileWriteUnknown) }
        state.withLock { state in
            if isExcluded { _ = state.excluded.insert(path) } else { _ = state.excluded.remove(path) }
        }
    }
}
