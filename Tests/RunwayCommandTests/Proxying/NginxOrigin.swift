import Foundation
import Testing

/// The nginx that `Scripts/integration-servers.sh` starts, as an origin of files that a test makes.
struct NginxOrigin {
    /// Whether the tests that need it run: when it is there, and when it is required to be.
    static var isExpected: Bool {
        let environment = ProcessInfo.processInfo.environment
        return environment["RUNWAY_NGINX_PROXIED"] != nil || environment["RUNWAY_REQUIRE_INTEGRATION"] == "1"
    }

    /// Its scheme, host and port.
    let url: String
    private let folder: URL
    private let log: URL

    init() throws {
        let environment = ProcessInfo.processInfo.environment
        func value(_ name: String) throws -> String {
            try #require(
                environment[name],
                "\(name) is not set: run Scripts/integration-servers.sh start DIR, and source DIR/environment")
        }
        url = try value("RUNWAY_NGINX_PLAIN")
        folder = URL(filePath: try value("RUNWAY_NGINX_PROXIED"))
        log = URL(filePath: try value("RUNWAY_NGINX_PROXIED_LOG"))
    }

    /// Runs `body` with a file that nginx serves below `/proxied/`, which is gone afterwards.
    func serving(
        _ bytes: some Sequence<UInt8>, endingIn ending: String = "txt", _ body: (ServedFile) async throws -> Void
    ) async throws {
        let file = ServedFile(place: folder.appending(path: "\(UUID().uuidString).\(ending)"))
        try file.write(bytes)
        defer {
            try? FileManager.default.removeItem(at: file.place)
            try? FileManager.default.removeItem(at: file.place.appendingPathExtension("gz"))
        }
        try await body(file)
    }

    /// The requests for a file and their responses so far, one line each: `GET 304 [range] [if-none-match]
    /// [if-modified-since]`.
    func exchanges(of file: ServedFile) async throws -> [String] {
        // One worker writes the log in the order in which it ends responses, so all earlier ones are in it.
        _ = try await curl("\(url)/proxied/")
        return try String(contentsOf: log, encoding: .utf8).split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ", maxSplits: 2)
            return words[1].contains(file.name) ? "\(words[0]) \(words[2])" : nil
        }
    }
}

/// A file that nginx serves.
struct ServedFile {
    let place: URL

    var name: String { place.lastPathComponent }
    /// The URL of the file, with the `Cache-Control` of its responses.
    func path(_ cacheControl: String) -> String { "/proxied/\(name)?cc=\(cacheControl)" }
    /// Where it is found without an entity tag.
    func datedPath(_ cacheControl: String) -> String { "/proxied/dated/\(name)?cc=\(cacheControl)" }

    func write(_ bytes: some Sequence<UInt8>) throws { try Data(bytes).write(to: place) }

    /// Dates it.
    func setModified(_ date: Date) throws {
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: place.path)
    }
}
