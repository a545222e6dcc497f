import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

@testable import RunwayCommand

/// Command lines of curl, read here and run by curl itself.
@Suite(.timeLimit(.minutes(10)))
struct CurlLineTests {
    static let lines = [
        "curl URL/a%2Fb?c=d", "curl -X DELETE URL/x", "curl -XPUT URL/x -d a=1 -d b=2", "curl -sS URL/x -I",
        "curl URL/x -H 'X-One: 1' -H 'X-Empty;' -H 'X-Gone:' --header \"X-Two:  two  words\"",
        "curl -G URL/x?y=1 -d a=1+2 --data-urlencode b=c_d --data-urlencode =e --data-urlencode f",
        "curl URL/x --json '{\"a\":1}'", "curl URL/x --json '[1' --json ',2]' -H 'Accept: text/plain'",
        "curl URL/x --data-raw @file", "curl URL/x --data-binary $'a\\nb\\x41'", "curl -u ada:secret URL/x",
        "curl -A agent -e http://a/ -b 'c=d; e=f' URL/x", "curl --url URL/x -g --compressed -o /dev/null",
        "curl URL/x -d 'it'\\''s' -H 'Content-Type: text/plain'", "curl \\\n  URL/x \\\n  -d ''",
        "curl URL -d \"a\\\"\\$b\"",
        "curl URL?q=1 -g", "curl 'URL/x?a=b#fragment'",
        "curl --path-as-is URL/a/../b/%2e%2e/c", "curl URL/%c3%A4?b=%2f",
    ]

    @Test(arguments: lines)
    func requestIsTheOneThatCurlSends(line: String) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("fine"))
            let command = line.replacing("URL", with: origin.baseURL)
            let words = try ShellWords.split(command)
            let read = try CurlLine(Array(words.dropFirst())).request

            // The shell's own words, which prove ours.
            let shell = try await Tool.run("/bin/bash", ["-c", command], input: [], environment: [:])
            #expect(shell.status == 0, "\(shell.errors)")
            let sent = try #require(origin.requests.last)
            #expect(read.head.method == sent.method)
            #expect(read.head.path == sent.target)
            #expect(read.body == sent.body)
            #expect(read.head.authority == sent.fields.first { $0.name == "Host" }?.value)
            for field in read.head.headerFields {
                let values = sent.fields.filter { $0.name.lowercased() == field.name.canonicalName }.map(\.value)
                #expect(values == [field.value], "\(field.name)")
            }
            // What is missing here is what curl adds by itself.
            let added = Set(["host", "user-agent", "accept", "accept-encoding", "content-length"])
            let names = Set(read.head.headerFields.map(\.name.canonicalName))
            #expect(Set(sent.fields.map { $0.name.lowercased() }).subtracting(names).subtracting(added).isEmpty)
        }
    }

    @Test(arguments: [
        ["http://a/x/../y"], ["http://a/x[1-3]"], ["http://a/x y"], ["http://a/\u{E4}"],
        ["-G", "http://a/", "-d", "a=%2F"],
        ["http://a/", "--data-urlencode", "a=b c"], ["http://a/", "-b", "jar"], ["http://a/", "-H", "@file"],
        ["http://a/", "-H", "no colon"], ["http://a/", "-d", "@/no/such/file"], ["http://a/", "-T", "file"],
        ["http://a/", "-u", "ada"], ["http://a/", "-X"], ["-K", "file"], ["-Z"], ["ftp://a/"],
    ])
    func changedAndUnknownOptionsOfCurlAreRefused(words: [String]) {
        #expect(throws: CommandFailure.self) { try CurlLine(words) }
    }

    @Test(arguments: ["curl $URL", "curl `x`", "curl \"a", "curl a > b", "curl $'\\q'", "curl $'\\xff'"])
    func whatAShellWouldReplaceIsRefused(line: String) {
        #expect(throws: CommandFailure.self) { try ShellWords.split(line) }
    }
}
