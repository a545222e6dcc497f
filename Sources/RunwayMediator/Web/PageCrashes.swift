public import Foundation

/// Counts how often the app ended abnormally while a native page was visible, so that a guard can show the web page at
/// the same path instead.
///
/// ```swift
/// let crashes = PageCrashes(at: file, build: "412")
/// let native = Guard("native orders") { !crashes.areRepeated(in: "orders") }
/// crashes.begin("orders")      // when the screen appears, such as for a ScreenEvent of RunwayScreens
/// crashes.end("orders")        // when it disappears
/// ```
///
/// A crash, a process that the system ends in the foreground, and one that a debugger stops all count: each page that
/// was visible then counts one. Screens are invisible in the background, so that an end there counts for none. Another
/// build of the app begins at zero.
///
/// The file has 8 KiB and is replaced by one write without waiting for the disk: it survives the process, and after a
/// loss of power it may begin at zero. Without a file, nothing is counted.
@MainActor public final class PageCrashes {
    private struct State: Codable {
        var build: String
        /// The crashes by page.
        var crashes: [String: Int] = [:]
        /// The visible pages. One that is visible in two windows is listed twice.
        var visible: [String] = []
    }

    private var state: State
    private let file: FileHandle?

    /// The number of crashes with which they are repeated.
    private static let limit = 2
    private static let fileByteCount = 8_192
    /// The maximum number of counted and of visible pages. Further ones are ignored.
    private static let maximumPages = 32
    /// The maximum length of a name in bytes.
    private static let maximumNameLength = 100

    /// Opens the file, and counts the pages that were visible when the last process ended.
    ///
    /// - Parameters:
    ///   - file: A file of this object only, in a folder that exists.
    ///   - build: Identifies the build of the app, such as its `CFBundleVersion`; at most 100 bytes are compared.
    public init(at file: URL, build: String) {
        let build = String(decoding: build.utf8.prefix(Self.maximumNameLength), as: UTF8.self)
        if !FileManager.default.fileExists(atPath: file.path) {
            _ = FileManager.default.createFile(
                atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
        }
        self.file = try? FileHandle(forUpdating: file)
        let data = (try? self.file?.read(upToCount: Self.fileByteCount)) ?? nil
        let stored = data.flatMap { try? JSONDecoder().decode(State.self, from: $0) }
        state = stored?.build == build ? stored ?? State(build: build) : State(build: build)
        for page in Set(state.visible) where state.crashes[page] != nil || state.crashes.count < Self.maximumPages {
            state.crashes[page, default: 0] += 1
        }
        state.visible = []
        write()
    }

    /// Returns whether the app has ended abnormally at least twice while a page was visible, in this build.
    ///
    /// - Parameter page: The name of the page, as passed to ``begin(_:)``.
    public func areRepeated(in page: String) -> Bool { state.crashes[page, default: 0] >= Self.limit }

    /// Records that a page is visible from now on.
    ///
    /// - Parameter page: A name of the page, of at most 100 bytes and without `"`, `\` and control characters. A page
    ///   with another name is ignored.
    public func begin(_ page: String) {
        // A character that JSON escapes would make the file longer.
        let isPlain = page.utf8.allSatisfy { $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        guard isPlain, page.utf8.count <= Self.maximumNameLength, state.visible.count < Self.maximumPages else {
            return
        }
        state.visible.append(page)
        write()
    }

    /// Records that a page is no longer visible.
    public func end(_ page: String) {
        guard let index = state.visible.firstIndex(of: page) else { return }
        state.visible.remove(at: index)
        write()
    }

    /// Replaces the content of the file by one write of constant length, which no crash can interrupt.
    private func write() {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        guard var data = try? encoder.encode(state), data.count <= Self.fileByteCount else { return }
        data.append(Data(repeating: UInt8(ascii: " "), count: Self.fileByteCount - data.count))
        try? file?.seek(toOffset: 0)
        try? file?.write(contentsOf: data)
    }
}
