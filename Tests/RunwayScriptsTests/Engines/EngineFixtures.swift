import Foundation
import RunwayJSON
import RunwayTesting
import Testing

@testable import RunwayScripts

/// A runtime with the points of its own that the scripts of tests patch.
struct ScriptedApp {
    private let folder: MarkerFolder?
    let records = Records()
    let runtime: ScriptRuntime
    let rows = PatchPoint("rows", version: 3) { (listing: Listing) in listing.items.map { Row(title: $0.name) } }
    let number = PatchPoint("number", version: 1) { (number: Int) in -number }

    init(in folder: MarkerFolder, deadlines: ScriptDeadlines = .long) throws {
        try self.init(at: folder.marker, in: folder, deadlines: deadlines)
    }

    init(deadlines: ScriptDeadlines = .long) throws { try self.init(in: MarkerFolder(), deadlines: deadlines) }

    /// - Parameter folder: The folder of the marker, if it is removed with the app.
    init(at marker: URL, in folder: MarkerFolder? = nil, deadlines: ScriptDeadlines) throws {
        self.folder = folder
        runtime = try ScriptRuntime(marker: marker, build: "412", deadlines: deadlines, receive: records.add)
        runtime.open(rows)
        runtime.open(number)
    }

    /// A runtime that has loaded one file.
    static func running(
        _ source: String, file: String = "main.js", deadlines: ScriptDeadlines = .long
    ) async throws -> ScriptedApp {
        let app = try ScriptedApp(deadlines: deadlines)
        try await app.runtime.load(.test(source, file: file))
        return app
    }

    /// Calls a script that does not end, until a call has passed its deadline: on a busy machine a call may end before
    /// its script begins.
    func passesItsDeadline() async throws {
        try await waitUntil("the deadline") {
            let failed = records.all.count { $0.kind == .failed }
            #expect(number(5) == -5)
            try await waitUntil("a record") { records.all.count { $0.kind == .failed } > failed }
            return records.all.contains { $0.error?.kind == .deadlinePassed }
        }
    }

    /// Waits until a script that was slower than its deadline has ended.
    func idle() async throws {
        try await waitUntil("the end of the script") { self.number(1) == 7 }
    }
}

extension MarkerFolder {
    /// Expects that the next runtime starts without the scripts of a bundle, and with those of its next version.
    func expectCondemned(_ bundle: ScriptBundle, next: ScriptBundle) async throws {
        let app = try ScriptedApp(in: self)
        let error = await #expect(throws: ScriptError.self) { try await app.runtime.load(bundle) }
        #expect(error?.kind == .condemned)
        #expect(app.number(5) == -5)
        try await app.runtime.load(next)
        #expect(app.number(5) == 7)
    }
}

extension ScriptDeadlines {
    /// Shorter than a loop, longer than any other script of a test.
    static let short = ScriptDeadlines(main: .milliseconds(300), elsewhere: .milliseconds(300), loading: .seconds(60))
}

func json(_ text: String) throws -> JSONValue { try JSONDocument(text).root }
