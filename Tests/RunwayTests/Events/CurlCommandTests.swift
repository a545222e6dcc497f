import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

@testable import Runway

/// Command lines are run by a real shell, with a function in the place of curl that writes down the words and the input it gets.
struct CurlCommandTests {
    private struct Run {
        var words: [String]
        var input: [UInt8]
    }

    private func attempt(
        _ method: HTTPRequest.Method = .get, _ url: String = "https://h.test/a", _ fields: HTTPFields = [:],
        body: [UInt8]? = nil
    ) -> FlightRecord.Attempt {
        FlightRecord.Attempt(
            method: method, url: url, headerFields: fields, requestByteCount: body?.count ?? 0, requestBody: body,
            start: .zero)
    }

    private func run(_ attempt: FlightRecord.Attempt) async throws -> Run {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("curl-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        // A function, as a program written a moment ago cannot be run while another test's child still holds it open. A
        // file, because a line may be longer than one argument of a process can be.
        let curl = "curl() { printf '%s\\000' \"$@\" > \"$FOLDER/words\"; cat > \"$FOLDER/input\"; }\n"
        let line = folder.appendingPathComponent("line")
        try Data((curl + attempt.curlCommand).utf8).write(to: line)

        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = [line.path]
        process.environment = ["PATH": "/usr/bin:/bin", "FOLDER": folder.path]
        process.standardInput = FileHandle.nullDevice
        let status = try await process.runToItsEnd()
        #expect(status == 0)
        let words = try Data(contentsOf: folder.appendingPathComponent("words"))
        return Run(
            words: words.split(separator: 0, omittingEmptySubsequences: false).dropLast()
                .map { String(decoding: $0, as: UTF8.self) },
            input: Array(try Data(contentsOf: folder.appendingPathComponent("input"))))
    }

    @Test func plainGetIsTheURLAlone() async throws {
        #expect(try await run(attempt()).words == ["--globoff", "https://h.test/a"])
        #expect(attempt().curlCommand == "curl --globoff 'https://h.test/a'")
    }

    @Test(arguments: [
        "it's", "'", "''", "a\"b", "$HOME `date` $(date) \\ \\n", "line\nbreak\r\n\ttab", " leading and trailing ",
        "中文😀é", "'\u{301};touch /tmp/x;'\u{301}",
        "a;b|c&d>e<f*?[x]{y}~!#", "-x", "--help", "%00%s", "{\"a\":'b'}", "a@b",
    ])
    func bodyOfAnyTextIsOneWord(_ text: String) async throws {
        let run = try await run(attempt(.post, body: Array(text.utf8)))
        #expect(run.words == ["--request", "POST", "--data-binary", text, "--globoff", "https://h.test/a"])
    }

    @Test func headerFieldsAreWordsWithTheirQuotes() async throws {
        var fields: HTTPFields = [.accept: "text/html;q=\"0.5\"", .userAgent: "it's $me `x`"]
        fields[try #require(HTTPField.Name("X-Empty"))] = ""
        fields.append(HTTPField(name: .accept, value: "a  b"))
        #expect(
            try await run(attempt(.get, "https://h.test/a", fields)).words == [
                "--header", "Accept: text/html;q=\"0.5\"", "--header", "User-Agent: it's $me `x`", "--header",
                "X-Empty;",
                "--header", "Accept: a  b", "--globoff", "https://h.test/a",
            ])
    }

    @Test func bracketsAndQuotesInAURLStayUnchanged() async throws {
        let url = "https://[::1]:8443/a?b[]={x,y}&c='&d=$e&password=[redacted]"
        #expect(try await run(attempt(.get, url)).words == ["--globoff", url])
    }

    @Test(
        arguments: [
            [0x40, 0x2F, 0x65, 0x74, 0x63], [0, 1, 2, 255], [0xC3, 0x28], Array("a\0b".utf8), Array("@\u{301}".utf8),
            Array(repeating: 0x27, count: 200_000),
        ] as [[UInt8]])
    func bodyThatIsNoWordIsPipedUnchanged(_ body: [UInt8]) async throws {
        let run = try await run(attempt(.put, body: body))
        #expect(run.words == ["--request", "PUT", "--data-binary", "@-", "--globoff", "https://h.test/a"])
        #expect(run.input == body)
    }

    @Test func emptyBodyIsNone() async throws {
        let run = try await run(attempt(.post, body: []))
        #expect(run.words == ["--request", "POST", "--globoff", "https://h.test/a"])
    }

    @Test(arguments: [512, nil] as [Int?]) func bodyThatIsNotRecordedIsNamed(byteCount: Int?) async throws {
        var attempt = attempt(.post)
        attempt.requestByteCount = byteCount
        let size = byteCount.map { "of \($0) bytes " } ?? ""
        #expect(attempt.curlCommand.hasSuffix("--globoff 'https://h.test/a'; : 'body \(size)not shown'"))
        let run = try await run(attempt)
        #expect(run.words == ["--request", "POST", "--globoff", "https://h.test/a"])
    }

    @Test func headAsksForTheHeadAlone() async throws {
        #expect(try await run(attempt(.head)).words == ["--head", "--globoff", "https://h.test/a"])
    }

    @Test func everyOtherMethodIsNamed() async throws {
        let method = try #require(HTTPRequest.Method("X'Y"))
        for method in [.delete, .patch, .options, method] as [HTTPRequest.Method] {
            #expect(
                try await run(attempt(method)).words
                    == ["--request", method.rawValue, "--globoff", "https://h.test/a"])
        }
    }

    @Test func realCallsCommandSendsTheSameRequest() async throws {
        let layer = StubbedLayer(redaction: Redaction(recordsBodies: true))
        _ = try await layer.network.call(JSONCall(given: ["q": "it's", "password": "hunter2"]))
        let attempt = try #require(try await layer.record().attempts.first)
        let words = try await run(attempt).words
        #expect(words.prefix(4) == ["--request", "POST", "--header", "Content-Type: application/json"])
        #expect(words.last == "https://library.test/v1/json")
        #expect(words[5].contains("it's") && words[5].contains("[redacted]") && !words[5].contains("hunter2"))
    }
}
