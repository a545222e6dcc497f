import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import Testing

@testable import RunwayScripts

/// Calls that a runtime records, and what is read of their file.
struct CallRecorderTests {
    private struct Broken: Error {}

    private struct TitleReformer: Reformer {
        func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [Row] {
            rawData.json["items"].elements.map { Row(title: $0["name"].string ?? "") }
        }
    }

    private let folder: MarkerFolder
    init() throws { folder = try MarkerFolder() }

    private var file: URL { folder.marker.appendingPathExtension("calls") }
    private let rows = PatchPoint("rows", version: 3) { (listing: Listing) in
        listing.items.map { Row(title: $0.name) }
    }

    /// Writes calls of points to the file, and returns its lines.
    private func lines(
        _ redaction: JSONRedaction = .default, _ calls: (ScriptRuntime) throws -> Void
    ) async throws -> [String] {
        // The thread of a former runtime may have its marker file still.
        let marker = folder.marker.appendingPathExtension("\(UUID())")
        let runtime = try ScriptRuntime(marker: marker, build: "412", redaction: redaction, recordedCalls: file)
        try calls(runtime)
        await runtime.flushRecordedCalls()
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
    }

    /// Writes one call of a point for each text.
    private func record(_ texts: [String], _ limits: CallRecorder.Limits) async throws -> RecordedCalls {
        let recorder = try CallRecorder(file, redaction: .default, limits: limits)
        let point = PatchPoint("echo", version: 1) { (text: String) in text }
        point.slot.recorder = recorder
        for text in texts {
            #expect(point(text) == text)
            await recorder.flush()
        }
        return RecordedCalls(Array(try Data(contentsOf: file)))
    }

    @Test func nothingIsRecordedByDefault() async throws {
        let runtime = try ScriptRuntime(marker: folder.marker, build: "412")
        runtime.open(rows)
        #expect(rows.slot.isDirect && rows(Listing(items: [])) == [])
        await runtime.flushRecordedCalls()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.marker.deletingLastPathComponent().path) == [
                "marker"
            ])
    }

    @Test func callsAreLinesOfAPrivateFile() async throws {
        let throwing = PatchPoint("throwing", version: 1) { (_: Int) throws(Broken) -> Int in throw Broken() }
        let lines = try await lines { runtime throws in
            runtime.open(rows)
            runtime.open(throwing)
            let reformer = runtime.patchable(TitleReformer(), version: 2)
            #expect(!rows.slot.isDirect && rows(Listing(items: [.init(name: "Loft\n")])) == [Row(title: "Loft\n")])
            #expect(throws: Broken.self) { try throwing(7) }
            let body = RawData(Array("{\n\"items\": [ {\"name\": \"Barn\"} ]\n}".utf8))
            #expect(try reformer.reform(body, from: Backend.get("/rentals")) == [Row(title: "Barn")])
            #expect(try reformer.reform(RawData(Array("no JSON".utf8)), from: Backend.get("/rentals")) == [])
        }
        try #require(lines.count == 3)
        #expect(lines[0].hasPrefix(#"{"point":"rows","version":3,"now":1"#))
        #expect(lines[0].hasSuffix(#","arguments":[{"items":[{"name":"Loft\n"}]}],"result":[{"title":"Loft\n"}]}"#))
        #expect(lines[1].hasSuffix(#","arguments":[7],"threw":"Broken"}"#))
        #expect(
            lines[2].hasSuffix(#"["GetEndpoint<Backend>",{"items":[{"name":"Barn"}]}],"result":[{"title":"Barn"}]}"#))
        let permissions = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(permissions == 0o600)
        #expect(RecordedCalls(Array(try Data(contentsOf: file))).count == 3)
    }

    @Test func secretsAreMaskedByTheirNames() async throws {
        let point = PatchPoint("login", version: 1) { (form: [String: String]) in
            ["token": "abc", "name": form["name"]]
        }
        let lines = try await lines { runtime throws in
            runtime.open(point)
            #expect(point(["password": "hunter2", "name": "Ada", "note": "pin=1234"])["name"] == "Ada")
        }
        #expect(lines.joined().contains(#""name":"Ada""#))
        for secret in ["hunter2", "abc", "1234"] { #expect(!lines.joined().contains(secret)) }
        let names = try await self.lines(.none) { runtime throws in
            let open = PatchPoint("open", version: 1) { (form: [String: String]) in form }
            runtime.open(open)
            #expect(open(["password": "hunter2"]).count == 1)
        }
        #expect(names.count == 2 && names[1].contains("hunter2"))
    }

    @Test func namesAreNotMasked() async throws {
        struct Session: APIService {
            static let name = "session"
            static let environments: [ServiceEnvironment: String] = [.release: "https://session.example"]
        }
        let point = PatchPoint("auth:rows", version: 1) { (text: String) in text }
        let lines = try await lines(.default.adding(["result", "version"])) { runtime throws in
            runtime.open(point)
            #expect(point("Loft") == "Loft")
            let reformer = runtime.patchable(TitleReformer(), version: 2)
            let body = RawData(Array(#"{"items":[],"token":"abc"}"#.utf8))
            #expect(try reformer.reform(body, from: Session.get("/rentals")) == [])
        }
        try #require(lines.count == 2)
        #expect(lines[0].hasPrefix(#"{"point":"auth:rows","version":1,"now":1"#))
        #expect(lines[0].hasSuffix(#","arguments":["Loft"],"result":"Loft"}"#))
        #expect(lines[1].hasSuffix(#"["GetEndpoint<Session>",{"items":[],"token":"[redacted]"}],"result":[]}"#))
    }

    @Test func laterLinesFollowThoseOfEarlierProcesses() async throws {
        for _ in 1...2 { _ = try await lines { _ = Self.call(rows: $0) } }
        // A process ended within a line.
        let handle = try FileHandle(forWritingTo: file)
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(#"{"point":"ro"#.utf8))
        try handle.close()
        #expect(RecordedCalls(Array(try Data(contentsOf: file))).damagedLineCount == 1)
        #expect(try await lines { _ = Self.call(rows: $0) }.count == 3)
        let records = RecordedCalls(Array(try Data(contentsOf: file)))
        #expect(records.count == 3 && records.damagedLineCount == 0)
    }

    private static func call(rows runtime: ScriptRuntime) -> [Row] {
        let rows = PatchPoint("rows", version: 3) { (listing: Listing) in listing.items.map { Row(title: $0.name) } }
        runtime.open(rows)
        return rows(Listing(items: []))
    }

    @Test func fileIsBounded() async throws {
        var limits = CallRecorder.Limits()
        limits.lineCount = 3
        var records = try await record((1...5).map { "\($0)" }, limits)
        #expect(records.count == 3 && records.isFull)
        records = try await record(["again"], limits)
        #expect(records.count == 3 && records.isFull && records.damagedLineCount == 0)
        try FileManager.default.removeItem(at: file)
        limits = CallRecorder.Limits()
        limits.fileByteCount = 1_000
        for _ in 1...3 {
            records = try await record(Array(repeating: String(repeating: "a", count: 100), count: 20), limits)
            #expect(records.isFull && (2...4).contains(records.count))
            #expect(try Data(contentsOf: file).count <= 1_000)
        }
    }

    @Test func callsThatAreLeftOutAreCounted() async throws {
        var limits = CallRecorder.Limits()
        limits.callByteCount = 1_000
        let large = String(repeating: "a", count: 600)
        let records = try await record(["1", large, large, "2", "3"], limits)
        #expect(records.count == 3 && records.omittedCount == 2 && !records.isFull)
        limits.pendingByteCount = 0
        _ = try await record(["4"], limits)
        limits.pendingByteCount = 10_000
        // The count of a process that records nothing more ends with it.
        #expect(try await record(["5"], limits).count == 4)
    }

    @Test func fileOfAnotherRuntimeIsRefused() throws {
        let other = try CallRecorder(file, redaction: .default)
        withExtendedLifetime(other) {
            let error = #expect(throws: ScriptError.self) {
                try ScriptRuntime(marker: folder.marker, build: "412", recordedCalls: file)
            }
            #expect(error?.kind == .recordsUnusable)
        }
        let below = #expect(throws: ScriptError.self) {
            try ScriptRuntime(marker: folder.marker, build: "412", recordedCalls: file.appending(path: "below"))
        }
        #expect(below?.kind == .recordsUnusable)
    }

    @Test func otherRuntimeEndsNeitherPatchNorRecording() async throws {
        let lines = try await lines { runtime throws in
            runtime.open(rows)
            rows.slot.patch = Patch(owner: ObjectIdentifier(runtime)) { _ in
                nil
            } fail: { _, _ in
            }
            do { try ScriptRuntime(marker: folder.marker, build: "412").open(rows) }
            #expect(rows.slot.patch != nil && rows(Listing(items: [])) == [])
        }
        #expect(lines.count == 1)
    }

    @Test func fileOfAnotherFormIsNotChanged() throws {
        try Data("a photo\nwithout end".utf8).write(to: file)
        let error = #expect(throws: ScriptError.self) { try CallRecorder(file, redaction: .default) }
        #expect(error?.kind == .recordsUnusable)
        #expect(try String(contentsOf: file, encoding: .utf8) == "a photo\nwithout end")
    }
}

private enum Backend: APIService {
    static let name = "backend"
    static let environments: [ServiceEnvironment: String] = [.release: "https://backend.example"]
}
