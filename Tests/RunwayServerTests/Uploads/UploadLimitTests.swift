import Foundation
import HTTPTypes
import Hummingbird
import RunwayServer
import Synchronization
import Testing

/// The bounds of uploads, their owners, and what remains when a server is started again.
@Suite(.timeLimit(.minutes(10)))
struct UploadLimitTests {
    private static let fields = ["Upload-Draft-Interop-Version: 8", "Upload-Complete: ?0"]
    private static let version = ["Upload-Draft-Interop-Version: 8"]
    private static let last = [
        "Upload-Draft-Interop-Version: 8", "Content-Type: application/partial-upload", "Upload-Complete: ?1",
    ]

    @Test func oversizedUploadIsRefusedWithTheLimit() async throws {
        let folder = try UploadFolder()
        try await UploadApp.run(in: folder, limits: UploadLimits(maximumByteCount: 6, maximumAppendByteCount: 4)) {
            app in
            let announced = try await app.exchange("POST", "/films/7", Self.fields + ["Upload-Length: 7"], "0123")
            #expect(announced.statuses == ["413"])
            #expect(announced.field("Upload-Limit")?.contains("max-size=6") == true)
            let part = try await app.exchange("POST", "/films/7", Self.fields, "01234")
            #expect(part.statuses == ["413"] && part.field("Upload-Limit")?.contains("max-append-size=4") == true)
            let created = try await app.exchange("POST", "/films/7", Self.fields, "0123")
            let path = try #require(created.field("Location"))
            let more = try await app.exchange("PATCH", path, Self.last + ["Upload-Offset: 4"], "456")
            #expect(more.statuses == ["413"] && app.handled.isEmpty)
        }
    }

    @Test func uploadsAreBoundedInNumberAndBytes() async throws {
        let limits = UploadLimits(maximumUploads: 2, maximumTotalByteCount: 10)
        try await UploadApp.run(in: try UploadFolder(), limits: limits) { app in
            let first = try await app.exchange("POST", "/films/7", Self.fields, "012345678")
            #expect(first.statuses == ["104", "201"])
            let second = try await app.exchange("POST", "/films/7", Self.fields + ["Upload-Length: 2"])
            #expect(second.statuses == ["507"])
            let open = try await app.exchange("POST", "/films/7", Self.fields, "0")
            let path = try #require(open.field("Location"))
            #expect(try await app.exchange("PATCH", path, Self.last + ["Upload-Offset: 1"], "1").statuses == ["507"])
            #expect(try await app.exchange("POST", "/films/7", Self.fields).statuses == ["503"])
            #expect(try await app.exchange("DELETE", path, Self.version).statuses == ["204"])
            #expect(try await app.exchange("POST", "/films/7", Self.fields, "0").statuses == ["104", "201"])
        }
    }

    @Test func uploadExpiresAfterItsLastRequest() async throws {
        let folder = try UploadFolder()
        let time = Mutex(Date())
        let limits = UploadLimits(lifetime: .seconds(100))
        try await UploadApp.run(in: folder, limits: limits, now: { time.withLock { $0 } }) { app in
            let created = try await app.exchange("POST", "/films/7", Self.fields, "0123")
            let path = try #require(created.field("Location"))
            for _ in 0..<3 {
                time.withLock { $0 += 60 }
                #expect(try await app.exchange("HEAD", path, Self.version).statuses == ["204"])
            }
            time.withLock { $0 += 101 }
            #expect(try await app.exchange("HEAD", path, Self.version).statuses == ["404"])
            #expect(folder.storedNames.isEmpty)
        }
    }

    @Test func uploadOutlivesItsServer() async throws {
        let folder = try UploadFolder()
        let path = Mutex("")
        try await UploadApp.run(in: folder) { app in
            let created = try await app.exchange(
                "PUT", "/films/9", Self.fields + ["Upload-Length: 8", "Content-Type: video/mp4"], "0123")
            path.withLock { $0 = created.field("Location") ?? "" }
        }
        try await UploadApp.run(in: folder) { app in
            let path = path.withLock { $0 }
            let state = try await app.exchange("HEAD", path, Self.version)
            #expect(state.field("Upload-Offset") == "4" && state.field("Upload-Length") == "8")
            #expect(try await app.exchange("PATCH", path, Self.last + ["Upload-Offset: 4"], "4567").statuses == ["201"])
            let handled = try #require(app.handled.first)
            #expect(handled.method == .put && handled.path == "/films/9" && handled.byteCount == 8)
            #expect(handled.headers[.contentType] == "video/mp4")
        }
        try await UploadApp.run(in: folder) { app in
            let location = path.withLock { $0 }
            let state = try await app.exchange("HEAD", location, Self.version)
            #expect(state.field("Upload-Complete") == "?1" && state.field("Upload-Offset") == "8")
        }
    }

    @Test func uploadFromBeforeARebootIsRemoved() async throws {
        let folder = try UploadFolder()
        let path = Mutex("")
        try await UploadApp.run(in: folder) { app in
            let created = try await app.exchange("PUT", "/films/9", Self.fields, "0123")
            path.withLock { $0 = created.field("Location") ?? "" }
        }
        let name = try #require(folder.storedNames.first { !$0.contains(".") })
        let record = URL(fileURLWithPath: folder.uploads + "/" + name)
        let text = try String(contentsOf: record, encoding: .utf8)
        let changed = text.replacing(#/"bootSession":"[^"]*"/#, with: "\"bootSession\":\"another\"")
        #expect(changed != text)
        try Data(changed.utf8).write(to: record)
        try await UploadApp.run(in: folder) { app in
            let location = path.withLock { $0 }
            let state = try await app.exchange("HEAD", location, Self.version)
            #expect(state.statuses == ["404"])
            #expect(folder.storedNames.isEmpty)
        }
    }

    @Test func filesAreOfTheServersUserAlone() async throws {
        let folder = try UploadFolder()
        try await UploadApp.run(in: folder) { app in
            _ = try await app.exchange("PUT", "/films/9", Self.fields, "0123")
            for name in folder.storedNames + [""] {
                let status = try FileManager.default.attributesOfItem(atPath: folder.uploads + "/" + name)
                let mode = status[.posixPermissions] as? Int ?? 0o777
                #expect(mode & 0o077 == 0)
            }
        }
    }

    @Test func uploadOfAnotherOwnerDoesNotExist() async throws {
        let owner: @Sendable (Request, BasicSignedRequestContext) async throws -> UploadOwner = { request, _ in
            guard let user = request.headers[.authorization] else { throw HTTPError(.unauthorized) }
            // Two accounts that are one text for `String`.
            return .account(["composed": "\u{E9}", "decomposed": "e\u{301}"][user] ?? user)
        }
        try await UploadApp.run(in: try UploadFolder(), owner: owner) { app in
            #expect(try await app.exchange("POST", "/films/7", Self.fields, "0").statuses == ["401"])
            let created = try await app.exchange("POST", "/films/7", Self.fields + ["Authorization: a"], "0")
            let path = try #require(created.field("Location"))
            #expect(try await app.exchange("HEAD", path, Self.version + ["Authorization: b"]).statuses == ["404"])
            #expect(try await app.exchange("DELETE", path, Self.version + ["Authorization: b"]).statuses == ["404"])
            #expect(try await app.exchange("HEAD", path, Self.version + ["Authorization: a"]).statuses == ["204"])
            let other = try await app.exchange("POST", "/films/7", Self.fields + ["Authorization: composed"], "0")
            let place = try #require(other.field("Location"))
            let fields = Self.version + ["Authorization: decomposed"]
            #expect(try await app.exchange("HEAD", place, fields).statuses == ["404"])
        }
    }

    @Test func uploadIsCompletedAgainWithANewToken() async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let created = try await app.exchange("POST", "/films/7", Self.fields, "0")
            let path = try #require(created.field("Location"))
            let refused = try await app.exchange(
                "PATCH", path, Self.last + ["Upload-Offset: 1", "Authorization: expired"], "1")
            #expect(refused.statuses == ["401"] && refused.field("Upload-Complete") == "?0")
            let state = try await app.exchange("HEAD", path, Self.version)
            #expect(state.field("Upload-Complete") == "?0" && state.field("Upload-Offset") == "2")
            let last = try await app.exchange("PATCH", path, Self.last + ["Upload-Offset: 2", "Authorization: new"])
            #expect(last.statuses == ["201"] && app.handled.map(\.byteCount) == [2])
        }
    }

    @Test func uploadRefusedByTheHandlerCountsAsComplete() async throws {
        try await UploadApp.run(in: try UploadFolder()) { app in
            let created = try await app.exchange("POST", "/films/7", Self.fields + ["User-Agent: refused"], "0")
            let path = try #require(created.field("Location"))
            let refused = try await app.exchange("PATCH", path, Self.last + ["Upload-Offset: 1"], "1")
            #expect(refused.statuses == ["422"] && refused.field("Upload-Complete") == "?1")
        }
    }
}
