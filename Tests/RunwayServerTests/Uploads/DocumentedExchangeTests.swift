import Foundation
import HTTPTypes
import RunwayTesting
import Testing

/// The server's half, by the bytes that `URLSession` is documented to send: an upload that is cut, asked for and continued, as draft 01
/// (interop version 3) and draft 05 (6) state the exchange. No `URLSession` of Apple's has sent them here.
@Suite(.timeLimit(.minutes(10)))
struct DocumentedExchangeTests {
    /// What differs between the versions.
    struct Version: CustomTestStringConvertible {
        let number: Int
        let creates: String
        let appends: String
        let stateOfPart: String
        let stateOfWhole: String
        let lastStatus: String

        var testDescription: String { "version \(number)" }
    }

    private static let versions = [
        Version(
            number: 3, creates: "Upload-Incomplete: ?0", appends: "Upload-Incomplete: ?0",
            stateOfPart: "Upload-Incomplete: ?1", stateOfWhole: "Upload-Incomplete: ?0", lastStatus: "201 Created"),
        Version(
            number: 6, creates: "Upload-Complete: ?1",
            appends: "Upload-Complete: ?1\r\nContent-Type: application/partial-upload",
            stateOfPart: "Upload-Complete: ?0", stateOfWhole: "Upload-Complete: ?1", lastStatus: "201 Created"),
    ]

    /// The fields that `URLSession` adds to every request.
    private static func common(_ app: UploadApp) -> String {
        """
        Host: 127.0.0.1:\(app.port)\r
        Accept: */*\r
        User-Agent: Films/1 CFNetwork/1568.100.1 Darwin/24.0.0\r
        Accept-Language: en-GB,en;q=0.9\r
        Accept-Encoding: gzip, deflate\r
        Connection: keep-alive\r\n
        """
    }

    @Test(arguments: versions) func cutUploadIsContinuedByTheDocumentedRequests(_ version: Version) async throws {
        let names = "Upload-Draft-Interop-Version: \(version.number)"
        try await UploadApp.run(in: try UploadFolder()) { app in
            // The first request announces ten bytes, and its connection ends after four.
            let first = try await RawConnection(to: app.port, awaiting: "\r\n\r\n")
            try await first.send(
                "POST /films/7 HTTP/1.1\r\n\(Self.common(app))Content-Type: video/mp4\r\n\(names)\r\n"
                    + "\(version.creates)\r\nContent-Length: 10\r\n\r\n0123")
            try await first.waitForText()
            try await waitUntil { app.folder.contentByteCount == 4 }
            try await first.close()
            let interim = try await first.rest()
            let location = try #require(interim.field("Location"))
            #expect(location.hasPrefix("/_uploads/") && location.utf8.count > 40)
            let limit = try #require(interim.field("Upload-Limit"))
            #expect(
                interim.bytesOfHead == [
                    "HTTP/1.1 104 Upload Resumption Supported", names, "Location: \(location)",
                    "Upload-Limit: \(limit)",
                ])

            let asking = try await RawConnection(to: app.port, awaiting: "\r\n\r\n")
            try await asking.send("HEAD \(location) HTTP/1.1\r\n\(Self.common(app))\(names)\r\n\r\n")
            try await asking.waitForText()
            try await asking.close()
            let state = try await asking.rest()
            let lines = state.bytesOfHead.filter { !$0.hasPrefix("Date:") && !$0.hasPrefix("Upload-Limit:") }
            #expect(
                lines.first == "HTTP/1.1 204 No Content"
                    && Set(lines.dropFirst()) == [
                        names, "Upload-Offset: 4", version.stateOfPart, "Upload-Length: 10", "Cache-Control: no-store",
                    ])

            let last = try await RawConnection(to: app.port, awaiting: #""}"#)
            try await last.send(
                "PATCH \(location) HTTP/1.1\r\n\(Self.common(app))\(names)\r\nUpload-Offset: 4\r\n\(version.appends)\r\n"
                    + "Content-Length: 6\r\n\r\n456789")
            try await last.waitForText()
            try await last.close()
            let whole = try await last.rest()
            #expect(whole.bytesOfHead.first == "HTTP/1.1 \(version.lastStatus)")
            #expect(Set([names, "Upload-Offset: 10", version.stateOfWhole]).isSubset(of: whole.bytesOfHead))
            let handled = try #require(app.handled.first)
            #expect(app.handled.count == 1 && handled.byteCount == 10 && handled.path == "/films/7")
            #expect(
                handled.headers[.contentType] == "video/mp4" && whole.hasSuffix(#"{"digest":"\#(handled.digest)"}"#))
        }
    }
}

extension String {
    /// The lines of the first head, as they came.
    fileprivate var bytesOfHead: [String] {
        (components(separatedBy: "\r\n\r\n").first ?? "").components(separatedBy: "\r\n")
    }
}
