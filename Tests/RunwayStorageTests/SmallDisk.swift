import Foundation

/// A file system of a few megabytes that `Scripts/full-disk.sh` mounts for one test, most of which something beside the test's own files
/// takes.
struct SmallDisk {
    /// The folder with the file systems, each under the name of its test.
    static let folder = ProcessInfo.processInfo.environment["RUNWAY_SMALL_DISKS"]

    let url: URL
    private var ballast: URL { url.appending(path: "ballast") }

    init(_ name: String) throws {
        url = URL(filePath: Self.folder ?? "").appending(path: name)
        try Data(count: 7 << 20).write(to: ballast)
    }

    /// The folder of the store that is tested.
    var store: URL { url.appending(path: "store") }
    var file: URL { store.appending(path: "file.sqlite") }

    /// Takes all space that is left.
    func fill() throws {
        try Data().write(to: ballast)
        let file = try FileHandle(forWritingTo: ballast)
        while (try? file.write(contentsOf: Data(count: 4096))) != nil {}
        try file.close()
    }

    /// Has the disk have space again.
    func empty() throws { try FileManager.default.removeItem(at: ballast) }
}
