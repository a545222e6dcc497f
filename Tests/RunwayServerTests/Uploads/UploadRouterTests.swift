import Foundation
import HTTPTypes
import Hummingbird
import RunwayServer
import RunwayTesting
import Synchronization
import Testing

/// The server's half, by requests as the draft's examples have them, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct UploadRouterTests {
    private static let v8 = "Upload-Draft-Interop-Version: 8"
    private static let partial = "Content-Type: application/partial-upload"

    /// Creates an upload with the first part of a text, and returns its path.
    private func create(
        _ app: UploadApp, _ part: String = "0123", fields: [String] = [], version: String = v8
    ) async throws -> String {
        let response = try await app.exchange("POST", "/films/7", [version, "Upload-Complete: ?0"] + fields, part)
        #expect(response.statuses == ["104", "201"])
        #expect(response.field("Upload-Complete") == "?0" && response.field("Upload-Offset") == "\(part.utf8.count)")
        return try #require(response.field("Location"))
    }

    @Test(arguments: [5, 6, 7, 8])
    func singleRequestUploadGetsInterimAndFinalResponses(version: Int) async throws {
        let folder = try UploadFolder()
        try await UploadApp.run(in: folder) { app in
            let response = try await app.exchange(
                "PUT", "/films/7?a=b",
                ["Upload-Draft-Interop-Version: \(version)", "Upload-Complete: ?1", "Upload-Length: 10", "X-Title: A"],
                "0123456789")
            #expect(response.statuses == ["104", "201"])
            #expect(response.field("Upload-Complete") == "?1" && response.field("Upload-Offset") == "10")
            #expect(response.field("Upload-Draft-Interop-Version") == "\(version)")
            #expect(response.field("Upload-Limit")?.contains(version < 7 ? "expires=" : "max-age=") == true)
            let handled = try #require(app.handled.first)
            #expect(handled.method == .put && handled.path == "/films/7?a=b" && handled.byteCount == 10)
            #expect(handled.headers[HTTPField.Name("X-Title")!] == "A" && handled.headers[.contentLength] == "10")
            #expect(!handled.headers.contains(HTTPField.Name("Upload-Complete")!))
            // Only the record remains, and says that the upload is complete.
            #expect(folder.storedNames.count == 1)
        }
    }

    @Test func firstDraftsFieldIsUnderstood() async throws {
        let folder = try UploadFolder()
        try await UploadApp.run(in: folder) { app in
            let version = "Upload-Draft-Interop-Version: 3"
            let created = try await app.exchange("POST", "/films/7", [version, "Upload-Incomplete: ?1"], "012")
            let path = try #require(created.field("Location"))
            #expect(created.field("Upload-Incomplete") == "?1")
            let state = try await app.exchange("HEAD", path, [version])
            #expect(state.field("Upload-Incomplete") == "?1" && state.field("Upload-Offset") == "3")
            let last = try await app.exchange("PATCH", path, [version, "Upload-Offset: 3"], "345")
            #expect(last.statuses == ["201"] && last.field("Upload-Incomplete") == "?0")
            #expect(app.handled.map(\.byteCount) == [6])
        }
    }

    @Test(arguments: ["Upload-Draft-Interop-Version: 4", "Upload-Draft-Interop-Version: x", "X: 1"])
    func clientWithoutKnownVersionGetsNoInterimResponse(field: String) async throws {
        let folder = try UploadFolder()
        try await UploadApp.run(in: folder) { app in
            let response = try await app.exchange("POST", "/films/7", [field, "Upload-Complete: ?1"], "0123")
            #expect(response.statuses == ["201"] && app.handled.map(\.byteCount) == [4])
            #expect(folder.storedNames.isEmpty)
            let created = try await app.exchange("POST", "/films/7", [field, "Upload-Complete: ?0"], "0123")
            #expect(created.statuses == ["201"] && created.field("Location") != nil)
        }
    }

    @Test func partsAreHandledAsOneRequest() async throws {
        let folder = try UploadFolder()
        try await UploadApp.run(in: folder) { app in
            let path = try await create(
                app, fields: ["Upload-Length: 10", "Content-Type: video/mp4", "Authorization: Bearer first"])
            for name in folder.storedNames {
                let text = try String(contentsOfFile: folder.uploads + "/" + name, encoding: .utf8)
                #expect(!text.contains("Bearer"))
            }
            let middle = try await app.exchange(
                "PATCH", path, [Self.v8, Self.partial, "Upload-Offset: 4", "Upload-Complete: ?0"], "456")
            #expect(middle.statuses == ["204"] && middle.field("Upload-Complete") == "?0")
            let state = try await app.exchange("HEAD", path, [Self.v8])
            #expect(state.statuses == ["204"] && state.field("Upload-Offset") == "7")
            #expect(state.field("Upload-Length") == "10" && state.field("Upload-Complete") == "?0")
            #expect(state.field("Cache-Control") == "no-store" && state.field("Upload-Limit") != nil)
            let last = try await app.exchange(
                "PATCH", path,
                [Self.v8, Self.partial, "Upload-Offset: 7", "Upload-Complete: ?1", "Authorization: Bearer last"], "789")
            #expect(last.statuses == ["201"] && last.field("Upload-Complete") == "?1")
            #expect(last.contains("digest"))
            let handled = try #require(app.handled.first)
            #expect(handled.byteCount == 10 && handled.method == .post && handled.path == "/films/7")
            #expect(handled.headers[.contentType] == "video/mp4" && handled.headers[.authorization] == "Bearer last")
            let after = try await app.exchange("HEAD", path, [Self.v8])
            #expect(after.field("Upload-Complete") == "?1" && after.field("Upload-Offset") == "10")
        }
    }

    @Test func wrongOffsetIsConflictWithTheRightOne() async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let path = try await create(app)
            let response = try await app.exchange(
                "PATCH", path, [Self.v8, Self.partial, "Upload-Offset: 9", "Upload-Complete: ?1"], "9")
            #expect(response.statuses == ["409"] && response.field("Upload-Offset") == "4")
            #expect(response.field("Content-Type") == "application/problem+json")
            #expect(response.contains("https://iana.org/assignments/http-problem-types#mismatching-upload-offset"))
            #expect(response.contains(#""expected-offset":4"#) && response.contains(#""provided-offset":9"#))
            let next = try await app.exchange(
                "PATCH", path, [Self.v8, Self.partial, "Upload-Offset: 4", "Upload-Complete: ?1"], "4")
            #expect(next.statuses == ["201"])
        }
    }

    @Test func completeUploadTakesNoMore() async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let path = try await create(app)
            let fields = [Self.v8, Self.partial, "Upload-Offset: 4", "Upload-Complete: ?1"]
            #expect(try await app.exchange("PATCH", path, fields).statuses == ["201"])
            let empty = try await app.exchange("PATCH", path, fields)
            #expect(empty.statuses == ["400"] && empty.contains("#completed-upload"))
            let more = try await app.exchange("PATCH", path, fields, "4")
            #expect(more.statuses == ["400"] && more.contains("#inconsistent-upload-length"))
            #expect(app.handled.map(\.byteCount) == [4])
        }
    }

    @Test(arguments: [
        ["Upload-Length: 5", "Upload-Complete: ?1"], ["Upload-Length: 9", "Upload-Complete: ?0"],
    ])
    func lengthsThatDifferAreRefused(fields: [String]) async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let path = try await create(app, fields: ["Upload-Length: 8"])
            let response = try await app.exchange(
                "PATCH", path, [Self.v8, Self.partial, "Upload-Offset: 4"] + fields, "45")
            #expect(response.statuses == ["400"] && response.contains("#inconsistent-upload-length"))
        }
    }

    @Test func contentBeyondTheLengthEndsTheUpload() async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let path = try await create(app, fields: ["Upload-Length: 6"])
            let fields = [Self.v8, Self.partial, "Upload-Offset: 4", "Upload-Complete: ?0"]
            let response = try await app.exchange("PATCH", path, fields, "4567")
            #expect(response.statuses == ["400"] && response.contains("#inconsistent-upload-length"))
            #expect(try await app.exchange("HEAD", path, [Self.v8]).statuses == ["404"])
        }
    }

    @Test func cancelledUploadIsGone() async throws {
        let folder = try UploadFolder()
        try await UploadApp.run(in: folder) { app in
            let path = try await create(app)
            #expect(try await app.exchange("DELETE", path, [Self.v8]).statuses == ["204"])
            #expect(try await app.exchange("HEAD", path, [Self.v8]).statuses == ["404"])
            #expect(folder.storedNames.isEmpty && app.handled.isEmpty)
        }
    }

    @Test(arguments: [
        (["Content-Type: text/plain", "Upload-Offset: 4", "Upload-Complete: ?1"], "415"),
        ([partial, "Upload-Complete: ?1"], "400"), ([partial, "Upload-Offset: 4"], "400"),
        ([partial, "Upload-Offset: -4", "Upload-Complete: ?1"], "400"),
        ([partial, "Upload-Offset: 4", "Upload-Complete: yes"], "400"),
    ])
    func partThatLacksSomethingIsRefused(fields: [String], status: String) async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let path = try await create(app)
            #expect(try await app.exchange("PATCH", path, [Self.v8] + fields, "4").statuses == [status])
            #expect(try await app.exchange("HEAD", path, [Self.v8]).field("Upload-Offset") == "4")
        }
    }

    @Test func supportIsAnnouncedToOptions() async throws {
        try await UploadApp.run(in: try UploadFolder(), limits: UploadLimits(maximumByteCount: 50)) { app in
            let response = try await app.exchange("OPTIONS", "/films/7", [Self.v8])
            #expect(response.field("Accept-Patch") == "application/partial-upload")
            #expect(response.field("Upload-Limit")?.hasPrefix("max-size=50") == true)
        }
    }

    @Test func laterRequestTakesOverAHangingUpload() async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let hanging = try await RawConnection(to: app.port)
            try await hanging.send(
                "POST /films/7 HTTP/1.1\r\nHost: x\r\n\(Self.v8)\r\nUpload-Complete: ?1\r\nContent-Length: 8\r\n\r\n0123"
            )
            try await hanging.waitForText()
            let path = try #require(
                try FileManager.default.contentsOfDirectory(atPath: app.folder.uploads).first { !$0.contains(".") })
            try await waitUntil { app.folder.contentByteCount == 4 }
            let state = try await app.exchange("HEAD", "/_uploads/\(path)", [Self.v8])
            #expect(state.field("Upload-Offset") == "4" && state.field("Upload-Complete") == "?0")
            // The server has cut the connection of the first request.
            let cut = try await hanging.rest()
            #expect(cut.statuses.first == "104" && !cut.statuses.contains("201"))
            let last = try await app.exchange(
                "PATCH", "/_uploads/\(path)", [Self.v8, Self.partial, "Upload-Offset: 4", "Upload-Complete: ?1"], "4567"
            )
            #expect(last.statuses == ["201"] && app.handled.map(\.byteCount) == [8])
        }
    }

    /// A client that waits for status 100 may not take status 104 for it.
    @Test func clientExpecting100ContinueGetsBothInterimResponses() async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let waiting = try await RawConnection(to: app.port, awaiting: "HTTP/1.1 100")
            try await waiting.send(
                "POST /films/7 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\n\(Self.v8)\r\n"
                    + "Upload-Complete: ?1\r\nContent-Length: 4\r\n\r\n")
            try await waiting.waitForText()
            try await waiting.send("0123")
            #expect(try await waiting.rest().statuses == ["104", "100", "201"])
            #expect(app.handled.map(\.byteCount) == [4])
        }
    }

    @Test(arguments: [true, false]) func handlerGetsNoContentDigestOfAPart(isWhole: Bool) async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let fields = [
                Self.v8, "Upload-Complete: \(isWhole ? "?1" : "?0")", "Content-Digest: sha-256=:AAAA:",
                "Repr-Digest: sha-256=:BBBB:",
            ]
            let first = try await app.exchange("POST", "/films/7", fields, "0123")
            if !isWhole {
                let path = try #require(first.field("Location"))
                _ = try await app.exchange(
                    "PATCH", path, [Self.v8, Self.partial, "Upload-Offset: 4", "Upload-Complete: ?1"], "4")
            }
            let handled = try #require(app.handled.first)
            #expect(handled.headers.contains(HTTPField.Name("Content-Digest")!) == isWhole)
            #expect(handled.headers[HTTPField.Name("Repr-Digest")!] == "sha-256=:BBBB:")
        }
    }
}
