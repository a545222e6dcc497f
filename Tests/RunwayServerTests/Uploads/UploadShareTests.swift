import Foundation
import HTTPTypes
import Hummingbird
import RunwayServer
import RunwayTesting
import Synchronization
import Testing

/// What one client can take of the space for uploads, and what is stored of its requests.
@Suite(.timeLimit(.minutes(10)))
struct UploadShareTests {
    private static let fields = ["Upload-Draft-Interop-Version: 8", "Upload-Complete: ?0"]
    private static let version = ["Upload-Draft-Interop-Version: 8"]
    private static let last = [
        "Upload-Draft-Interop-Version: 8", "Content-Type: application/partial-upload", "Upload-Complete: ?1",
    ]
    /// The account and the source of a request are what it says.
    private static let owner: @Sendable (Request, BasicSignedRequestContext) async throws -> UploadOwner = {
        request, _ in
        guard let user = request.headers[.authorization] else { throw HTTPError(.unauthorized) }
        return .account(user)
    }
    private static let source: @Sendable (Request, BasicSignedRequestContext) -> String? = { request, _ in
        HTTPField.Name("X-Source").flatMap { request.headers[$0] }
    }

    private static func limits(owner: UploadShare? = nil, source: UploadShare? = nil) -> UploadLimits {
        var limits = UploadLimits(maximumUploads: 10, maximumTotalByteCount: 100)
        let all = UploadShare(maximumUploads: 10, maximumByteCount: 100)
        (limits.ownerShare, limits.sourceShare) = (owner ?? all, source ?? all)
        return limits
    }

    @Test func announcedBytesTakeNoSpace() async throws {
        try await UploadApp.run(in: try UploadFolder(), limits: Self.limits()) { app in
            for _ in 1...4 {
                let empty = try await app.exchange("POST", "/films/7", Self.fields + ["Upload-Length: 100"])
                #expect(empty.statuses == ["104", "201"])
            }
            let whole = String(repeating: "0", count: 100)
            let other = try await app.exchange(
                "POST", "/films/7", Self.version + ["Upload-Complete: ?1"], whole)
            #expect(other.statuses == ["104", "201"] && app.handled.map(\.byteCount) == [100])
        }
    }

    @Test(arguments: [true, false]) func bytesOfOneHolderAreBounded(isOwner: Bool) async throws {
        let share = UploadShare(maximumUploads: 10, maximumByteCount: 8)
        let limits = Self.limits(owner: isOwner ? share : nil, source: isOwner ? nil : share)
        try await UploadApp.run(in: try UploadFolder(), limits: limits, source: Self.source, owner: Self.owner) { app in
            func client(_ number: Int) -> [String] {
                ["Authorization: \(isOwner ? "a" : "a\(number)")", "X-Source: \(isOwner ? "s\(number)" : "s")"]
            }
            let first = try await app.exchange("POST", "/films/7", Self.fields + client(1), "012345")
            #expect(first.statuses == ["104", "201"])
            let second = try await app.exchange("POST", "/films/7", Self.fields + client(2), "012")
            #expect(second.statuses == ["104", "507"])
            let path = try #require(first.field("Location"))
            let more = try await app.exchange("PATCH", path, Self.last + client(1) + ["Upload-Offset: 6"], "678")
            #expect(more.statuses == ["507"])
            let other = try await app.exchange(
                "POST", "/films/7", Self.fields + ["Authorization: b", "X-Source: t"], "01234567")
            #expect(other.statuses == ["104", "201"])
            // A share is free again when an upload is removed.
            #expect(try await app.exchange("DELETE", path, Self.version + client(1)).statuses == ["204"])
            let third = try await app.exchange("POST", "/films/7", Self.fields + client(3), "012345")
            #expect(third.statuses == ["104", "201"])
        }
    }

    @Test(arguments: [true, false]) func numberOfOneHolderIsBounded(isOwner: Bool) async throws {
        let share = UploadShare(maximumUploads: 2, maximumByteCount: 100)
        let limits = Self.limits(owner: isOwner ? share : nil, source: isOwner ? nil : share)
        try await UploadApp.run(in: try UploadFolder(), limits: limits, source: Self.source, owner: Self.owner) { app in
            var statuses: [[String]] = []
            for number in 1...3 {
                let client = [
                    "Authorization: \(isOwner ? "a" : "a\(number)")", "X-Source: \(isOwner ? "s\(number)" : "s")",
                ]
                statuses.append(try await app.exchange("POST", "/films/7", Self.fields + client).statuses)
            }
            #expect(statuses == [["104", "201"], ["104", "201"], ["429"]])
            let other = ["Authorization: b", "X-Source: t"]
            #expect(try await app.exchange("POST", "/films/7", Self.fields + other).statuses == ["104", "201"])
        }
    }

    @Test func sharesOutliveTheServer() async throws {
        let folder = try UploadFolder()
        let limits = Self.limits(source: UploadShare(maximumUploads: 1, maximumByteCount: 100))
        for status in ["201", "429"] {
            try await UploadApp.run(in: folder, limits: limits, source: Self.source) { app in
                let response = try await app.exchange("POST", "/films/7", Self.fields + ["X-Source: s"], "0")
                #expect(response.statuses.last == status)
            }
        }
    }

    @Test func defaultSourceIsTheAddress() async throws {
        let limits = Self.limits(source: UploadShare(maximumUploads: 1, maximumByteCount: 100))
        try await UploadApp.run(in: try UploadFolder(), limits: limits, source: nil) { app in
            let first = try await app.exchange("POST", "/films/7", Self.fields)
            let second = try await app.exchange("POST", "/films/7", Self.fields)
            #expect(first.statuses == ["104", "201"] && second.statuses == ["429"])
        }
    }

    @Test func heldAppendExpires() async throws {
        let clock = ManualClock()
        let time = Mutex(Date())
        let folder = try UploadFolder()
        let limits = UploadLimits(lifetime: .seconds(100))
        try await UploadApp.run(in: folder, limits: limits, now: { time.withLock { $0 } }, clock: clock) { app in
            let created = try await app.exchange("POST", "/films/7", Self.fields, "0123")
            let path = try #require(created.field("Location"))
            let held = try await RawConnection(to: app.port, awaiting: "HTTP/1.1 408")
            let lines = Self.last + ["Upload-Offset: 4", "Host: x", "Content-Length: 4"]
            try await held.send("PATCH \(path) HTTP/1.1\r\n\(lines.joined(separator: "\r\n"))\r\n\r\n")
            try await clock.waitForSleepers()
            clock.advance(by: .seconds(20))
            try await held.waitForText()
            #expect(try await app.exchange("HEAD", path, Self.version).field("Upload-Offset") == "4")
            // Nobody holds it any more.
            time.withLock { $0 += 101 }
            #expect(try await app.exchange("HEAD", path, Self.version).statuses == ["404"])
            #expect(folder.storedNames.isEmpty)
        }
    }

    @Test(arguments: ["X-API-Key", "DPoP", "X-Session", "X-Amz-Security-Token", "Cookie", "Authorization", "Signature"])
    func unlistedFieldIsThatOfTheLastRequest(name: String) async throws {
        let folder = try UploadFolder()
        try await UploadApp.run(in: folder) { app in
            let created = try await app.exchange(
                "POST", "/films/7", Self.fields + ["\(name): first-secret", "Content-Type: video/mp4"], "0123")
            for stored in folder.storedNames {
                let text = try String(contentsOfFile: folder.uploads + "/" + stored, encoding: .utf8)
                #expect(!text.contains("secret"))
            }
            let path = try #require(created.field("Location"))
            let done = try await app.exchange(
                "PATCH", path, Self.last + ["\(name): last-secret", "Upload-Offset: 4"], "4")
            #expect(done.statuses == ["201"])
            let headers = try #require(app.handled.first).headers
            #expect(headers[values: HTTPField.Name(name)!] == ["last-secret"])
            #expect(headers[.contentType] == "video/mp4")
        }
    }

    @Test func fieldThatTheAppListsIsStored() async throws {
        let title = HTTPField.Name("X-Title")!
        try await UploadApp.run(in: try UploadFolder(), storing: [title]) { app in
            let created = try await app.exchange("POST", "/films/7", Self.fields + ["X-Title: A"], "0123")
            let path = try #require(created.field("Location"))
            _ = try await app.exchange("PATCH", path, Self.last + ["X-Title: B", "Upload-Offset: 4"], "4")
            #expect(try #require(app.handled.first).headers[values: title] == ["A"])
        }
    }

    /// A server of an earlier version stored every field that it did not know.
    @Test func storedFieldThatIsUnlistedIsNotReplayed() async throws {
        let folder = try UploadFolder()
        let path = Mutex("")
        try await UploadApp.run(in: folder) { app in
            let created = try await app.exchange("PUT", "/films/9", Self.fields + ["User-Agent: films"], "0123")
            path.withLock { $0 = created.field("Location") ?? "" }
        }
        let name = try #require(folder.storedNames.first { !$0.contains(".") })
        let record = URL(fileURLWithPath: folder.uploads + "/" + name)
        let text = try String(contentsOf: record, encoding: .utf8)
        let changed = text.replacingOccurrences(of: "User-Agent", with: "X-API-Key")
        #expect(changed != text)
        try Data(changed.utf8).write(to: record)
        try await UploadApp.run(in: folder) { app in
            let location = path.withLock { $0 }
            _ = try await app.exchange("PATCH", location, Self.last + ["Upload-Offset: 4"], "4")
            let headers = try #require(app.handled.first).headers
            #expect(!headers.contains(HTTPField.Name("X-API-Key")!))
        }
    }
}
