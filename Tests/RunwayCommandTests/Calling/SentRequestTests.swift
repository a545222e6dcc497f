import Foundation
import HTTPTypes
import RunwayTestServer
import Testing

/// What a real server receives from a command line: the method, the target, the fields that matter and the body.
@Suite(.timeLimit(.minutes(10)))
struct SentRequestTests {
    /// A command line after `runway call`, and what it sends.
    struct Invocation: Sendable, CustomTestStringConvertible {
        /// `URL` is replaced by the address of the server, and `PORT` by its port.
        var words: [String]
        var input = ""
        /// Method and target.
        var line: String
        var fields: [String: String?]
        var body: String

        init(
            _ words: String..., input: String = "", sends line: String, _ fields: [String: String?] = [:],
            body: String = ""
        ) {
            self.words = words
            self.input = input
            self.line = line
            self.fields = fields
            self.body = body
        }

        var testDescription: String { words.joined(separator: " ") }
    }

    private static let json = ["Content-Type": "application/json"] as [String: String?]
    private static let urlEncoded = ["Content-Type": "application/x-www-form-urlencoded"] as [String: String?]

    static let lines: [Invocation] = [
        // Method and URL.
        Invocation("URL/get", sends: "GET /get", ["Content-Type": nil, "Content-Length": nil]),
        Invocation("GET", "URL/get", sends: "GET /get"),
        Invocation("get", "URL/get", sends: "GET /get"),
        Invocation("127.0.0.1:PORT/get", sends: "GET /get"),
        Invocation("localhost:PORT/get", sends: "GET /get"),
        Invocation(":PORT/get", sends: "GET /get", ["Host": "localhost:PORT"]),
        Invocation(":PORT", sends: "GET /"),
        Invocation("POST", ":PORT/x", "a=1", sends: "POST /x", body: #"{"a":"1"}"#),
        Invocation("URL/post", "a=1", sends: "POST /post", json, body: #"{"a":"1"}"#),
        Invocation("PUT", "URL/put", "a=1", sends: "PUT /put", body: #"{"a":"1"}"#),
        Invocation("patch", "URL/patch", "a=1", sends: "PATCH /patch", body: #"{"a":"1"}"#),
        Invocation("DELETE", "URL/delete", sends: "DELETE /delete"),
        Invocation("OPTIONS", "URL/get", sends: "OPTIONS /get"),
        Invocation("HEAD", "URL/get", sends: "HEAD /get", ["Accept-Encoding": "identity"]),
        Invocation("PURGE", "URL/get", sends: "PURGE /get"),
        Invocation("M-SEARCH", "URL/get", sends: "M-SEARCH /get"),
        Invocation("purge", "URL/get", sends: "purge /get"),
        Invocation("POST", "URL/post", sends: "POST /post", ["Content-Length": "0", "Content-Type": nil]),
        // Queries.
        Invocation("URL/get", "a==1", "b==x y", sends: "GET /get?a=1&b=x%20y"),
        Invocation("URL/get?z=9", "a==1", sends: "GET /get?z=9&a=1"),
        Invocation("URL/get", "a==1", "a==2", sends: "GET /get?a=1&a=2"),
        Invocation("URL/get", "q==a&b=c", sends: "GET /get?q=a%26b%3Dc"),
        Invocation("URL/get", "q==上海", sends: "GET /get?q=%E4%B8%8A%E6%B5%B7"),
        Invocation("URL/get", "q==", sends: "GET /get?q="),
        Invocation("URL/get?x=%41", sends: "GET /get?x=%41"),
        Invocation("URL/get", "q==@FILE", sends: "GET /get?q=from%20file"),
        // Header fields.
        Invocation("URL/get", "X-A:1", sends: "GET /get", ["X-A": "1"]),
        Invocation("URL/get", "X-A: two words", sends: "GET /get", ["X-A": "two words"]),
        Invocation("URL/get", "X-A:", sends: "GET /get", ["X-A": ""]),
        Invocation("URL/get", "User-Agent:mine", sends: "GET /get", ["User-Agent": "mine"]),
        Invocation("URL/get", sends: "GET /get", ["User-Agent": "runway/0.1.0"]),
        Invocation("URL/get", "Accept-Encoding:identity", sends: "GET /get", ["Accept-Encoding": "identity"]),
        Invocation("URL/get", "Range:bytes=0-3", sends: "GET /get", ["Accept-Encoding": "identity"]),
        Invocation("URL/get", "X-T:@FILE", sends: "GET /get", ["X-T": "from file"]),
        Invocation("URL/get", "Cookie:a=1", sends: "GET /get", ["Cookie": "a=1"]),
        // JSON.
        Invocation("URL/post", "a=1", "b:=2", sends: "POST /post", body: #"{"a":"1","b":2}"#),
        Invocation("URL/post", "a:=true", "b:=null", sends: "POST /post", body: #"{"a":true,"b":null}"#),
        Invocation("URL/post", #"a:=[1,{"b":2}]"#, sends: "POST /post", body: #"{"a":[1,{"b":2}]}"#),
        Invocation(":PORT/x", "u=http://x/?a==b", sends: "POST /x", body: #"{"u":"http://x/?a==b"}"#),
        Invocation("URL/post", "a=", sends: "POST /post", body: #"{"a":""}"#),
        Invocation("URL/post", "a=x\"y\n", sends: "POST /post", body: #"{"a":"x\"y\n"}"#),
        Invocation("URL/post", "a=上", sends: "POST /post", body: #"{"a":"上"}"#),
        Invocation("URL/post", #"a\=b=c"#, sends: "POST /post", body: #"{"a=b":"c"}"#),
        Invocation("URL/post", #"mail\@x=c"#, sends: "POST /post", body: #"{"mail@x":"c"}"#),
        Invocation("URL/post", #"a=\@b"#, sends: "POST /post", body: #"{"a":"@b"}"#),
        Invocation("URL/post", "a=b@c", sends: "POST /post", body: #"{"a":"b@c"}"#),
        Invocation("URL/post", "a=@FILE", sends: "POST /post", body: #"{"a":"from file\n"}"#),
        Invocation("URL/post", "a:=@JSON", sends: "POST /post", body: #"{"a":{"n":1.0}}"#),
        Invocation(
            "URL/post", "Content-Type:application/x", "a=1", sends: "POST /post", ["Content-Type": "application/x"],
            body: #"{"a":"1"}"#),
        // Forms.
        Invocation("-f", "URL/post", "a=1", "b=x y", sends: "POST /post", urlEncoded, body: "a=1&b=x%20y"),
        Invocation("--form", "PUT", "URL/put", "a=&=", sends: "PUT /put", urlEncoded, body: "a=%26%3D"),
        Invocation("-f", "URL/post", "a=@FILE", sends: "POST /post", urlEncoded, body: "a=from%20file%0A"),
        Invocation("-f", "URL/get", sends: "GET /get", ["Content-Type": nil, "Content-Length": nil]),
        Invocation("-f", "GET", "URL/get", input: "a script", sends: "GET /get", ["Content-Type": nil]),
        Invocation("-f", "POST", "URL/post", sends: "POST /post", ["Content-Type": nil, "Content-Length": "0"]),
        Invocation("-f", "POST", "URL/post", input: "a=1", sends: "POST /post", urlEncoded, body: "a=1"),
        Invocation("-f", "URL/post", input: "a=1&b=2", sends: "POST /post", urlEncoded, body: "a=1&b=2"),
        Invocation("-f", "-I", "POST", "URL/post", input: "a=1", sends: "POST /post", ["Content-Type": nil]),
        // Bodies.
        Invocation("URL/post", "--body", "FILE", sends: "POST /post", ["Content-Length": "10"], body: "from file\n"),
        Invocation("PUT", "URL/put", "--body", "JSON", sends: "PUT /put", json, body: #"{"n":1.0}"#),
        Invocation("GET", "URL/get", "--body", "FILE", sends: "GET /get", body: "from file\n"),
        Invocation(
            "URL/post", input: "piped", sends: "POST /post", ["Content-Type": "application/octet-stream"], body: "piped"
        ),
        Invocation("URL/post", input: #"{"a":1}"#, sends: "POST /post", json, body: #"{"a":1}"#),
        Invocation("PUT", "URL/put", input: "piped", sends: "PUT /put", body: "piped"),
        Invocation("URL/post", "a=1", input: "ignored", sends: "POST /post", body: #"{"a":"1"}"#),
        Invocation("GET", "URL/get", input: "a script", sends: "GET /get"),
        Invocation("-I", "URL/get", input: "a script", sends: "GET /get"),
        Invocation("URL/get", "--body", "-", input: "asked", sends: "POST /get", body: "asked"),
        Invocation(
            "URL/post", "Content-Type:text/csv", input: "a,b", sends: "POST /post", ["Content-Type": "text/csv"],
            body: "a,b"),
        // Credentials.
        Invocation("-a", "ada:s3cret", "URL/get", sends: "GET /get", ["Authorization": "Basic YWRhOnMzY3JldA=="]),
        Invocation("--auth", "ada:", "URL/get", sends: "GET /get", ["Authorization": "Basic YWRhOg=="]),
        Invocation("-a", "ada:a:b", "URL/get", sends: "GET /get", ["Authorization": "Basic YWRhOmE6Yg=="]),
        Invocation("URL/get", "Authorization:Bearer t", sends: "GET /get", ["Authorization": "Bearer t"]),
    ]

    @Test(arguments: lines)
    func commandLineSendsItsRequest(_ invocation: Invocation) async throws {
        try await withTemporaryFolder { folder in
            let (text, json) = (folder.appendingPathComponent("text"), folder.appendingPathComponent("n.json"))
            try Data("from file\n".utf8).write(to: text)
            try Data(#"{"n":1.0}"#.utf8).write(to: json)
            try await withScriptedOrigin { origin in
                origin.otherwise(respond: .text("fine"))
                let fill = { (word: String) in
                    word.replacingOccurrences(of: "URL", with: origin.baseURL)
                        .replacingOccurrences(of: "PORT", with: "\(origin.port)")
                        .replacingOccurrences(of: "FILE", with: text.path).replacingOccurrences(
                            of: "JSON", with: json.path)
                }
                let tool = try await Tool.run(
                    Tool.path, ["call"] + invocation.words.map(fill), input: Array(invocation.input.utf8),
                    environment: [:])
                #expect(tool.status == 0, "\(tool.errors)")
                try #require(origin.requests.count == 1)
                let request = origin.requests[0]
                #expect("\(request.method.rawValue) \(request.target)" == invocation.line)
                #expect(request.text == invocation.body)
                for (name, value) in invocation.fields { #expect(request[name] == value.map(fill), "\(name)") }
            }
        }
    }

    @Test func formWithFilesIsMultipart() async throws {
        try await withTemporaryFolder { folder in
            let file = folder.appendingPathComponent("it's; a \"file\".txt")
            try Data([0, 1, 255, 13, 10]).write(to: file)
            try await withScriptedOrigin { origin in
                origin.otherwise(respond: .text("fine"))
                let words = [
                    "call", "\(origin.baseURL)/up", "title=上", "photo@\(file.path);type=image/png", "raw@\(file.path)",
                ]
                let sent = try await Tool.run(Tool.path, words, input: [], environment: [:])
                #expect(sent.status == 0, "\(sent.errors)")
                let curl = try await Tool.run(Tool.path, words + ["--curl"], input: [], environment: [:])
                #expect(try await Tool.shell(curl.output).status == 0, "\(curl.output)")

                let forms = try origin.requests.map { try Form($0) }
                try #require(forms.count == 2)
                #expect(origin.requests.allSatisfy { $0.method == .post && $0["Content-Length"] != nil })
                #expect(forms[0].names == ["title", "photo", "raw"])
                #expect(forms[0].types == [nil, "image/png", "application/octet-stream"])
                #expect(forms[0].bodies == [Array("上".utf8), [0, 1, 255, 13, 10], [0, 1, 255, 13, 10]])
                #expect(forms[0] == forms[1])
            }
        }
    }

    /// The parts of a multipart/form-data body.
    private struct Form: Equatable {
        var names: [String] = []
        var types: [String?] = []
        var bodies: [[UInt8]] = []

        init(_ request: ReceivedRequest) throws {
            let type = try #require(request["Content-Type"])
            let boundary = try #require(type.firstMatch(of: /^multipart\/form-data; boundary=(.+)$/)).1
            var rest = (Array("\r\n".utf8) + request.body)[...]
            let mark = Array("\r\n--\(boundary)".utf8)
            while let start = rest.firstRange(of: mark) {
                rest = rest[start.upperBound...]
                guard rest.starts(with: Array("\r\n".utf8)) else { break }
                let end = try #require(rest.firstRange(of: Array("\r\n\r\n".utf8)))
                let head = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
                rest = rest[end.upperBound...]
                let next = try #require(rest.firstRange(of: mark))
                names.append(String(try #require(head.firstMatch(of: /name="([^"]*)"/)).1))
                types.append(head.firstMatch(of: /Content-Type: (\S+)/).map { String($0.1) })
                bodies.append(Array(rest[..<next.lowerBound]))
            }
        }
    }
}
