import Foundation
import HTTPTypes
import RunwaySignatures
import RunwayTesting

/// A signed request as lines of HTTP/1.1, which something between client and server may change as RFC 9110 allows it.
struct TransitRequest: CustomStringConvertible {
    var method: String
    var target: String
    var host: String
    /// The lines of header fields, values with the spaces around them.
    var lines: [(name: String, value: String)]
    var body: [UInt8]
    /// Whether the body is sent in chunks, without `Content-Length`.
    var isChunked = false

    /// The lines of a request, one for each field line.
    init(_ request: HTTPRequest, body: [UInt8] = []) {
        (method, target) = (request.method.rawValue, request.path ?? "/")
        host = request.authority ?? ""
        lines = request.headerFields.map { ($0.name.rawName, " " + $0.value) }
        self.body = body
    }

    /// All changes that are legal on the way: the order of fields with different names, lines of one name joined, spaces and tabs around
    /// values, the case of names, the default port, and a body in chunks of another size.
    mutating func reorder(_ random: inout SeededGenerator) {
        var merged: [(name: String, value: String)] = []
        for line in lines {
            let place = merged.lastIndex { $0.name.lowercased() == line.name.lowercased() }
            let values = [place.map { merged[$0].value } ?? "", line.value].map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            // Joined with an empty line, the comma's space is at an end of the value, where the next one strips it: RFC 9421 §2.1 has two
            // values for the two forms.
            if let place, values.allSatisfy({ !$0.isEmpty }), Bool.random(using: &random) {
                merged[place].value = values.joined(separator: ", ")
            } else {
                merged.append(line)
            }
        }
        // Lines of one name stay in their order: each name's places are shuffled with those of all others.
        var names = merged.map { $0.name.lowercased() }
        names.shuffle(using: &random)
        var rest = Dictionary(grouping: merged) { $0.name.lowercased() }
        lines = names.map { name in
            let line = rest[name]?.removeFirst() ?? (name: "", value: "")
            let spaces = ["", " ", "\t", "   ", " \t "]
            let value = line.value.trimmingCharacters(in: .whitespaces)
            let before = spaces.randomElement(using: &random) ?? ""
            let after = spaces.randomElement(using: &random) ?? ""
            return (Self.recased(line.name, &random), before + value + after)
        }
        host = Bool.random(using: &random) ? host.uppercased() : host
        if !host.contains(":"), Bool.random(using: &random) { host += ":443" }
        isChunked = !body.isEmpty && Bool.random(using: &random)
    }

    private static func recased(_ name: String, _ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<3, using: &random) {
        case 0: name.lowercased()
        case 1: name.uppercased()
        default: name
        }
    }

    /// The message, after which the connection is closed.
    func text(_ others: [(name: String, value: String)] = []) -> String {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n"
        for (name, value) in others { text += "\(name): \(value)\r\n" }
        for (name, value) in lines { text += "\(name):\(value)\r\n" }
        let bytes = String(decoding: body, as: UTF8.self)
        if isChunked {
            text += "Transfer-Encoding: chunked\r\n\r\n"
            for byte in bytes { text += "1\r\n\(byte)\r\n" }
            return text + "0\r\n\r\n"
        }
        if !body.isEmpty { text += "Content-Length: \(body.count)\r\n" }
        return text + "\r\n" + bytes
    }

    var description: String { text() }
}

/// Random signed requests with odd header fields, paths and queries.
struct TransitGenerator {
    var random: SeededGenerator
    private static let names = ["X-List", "X-Other", "Accept", "X-Empty"]

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next() async throws -> TransitRequest {
        var call = SignedCall()
        let segments = ["a%2Fb", "a%2fb", "", "%7e", "~", "a;b=c", "%C3%A4", "a+b", "%25", "."]
        let count = Int.random(in: 0..<4, using: &random)
        call.path = "/v1/echo/x" + (0..<count).map { _ in "/" + pick(segments) }.joined()
        // A dot segment is resolved by some clients, and none by this one; nginx passes it.
        call.path += pick(["", "?", "?a=1&a=2", "?q=%2F%3f&&=", "?a=b?c=d/e"])
        for name in Self.names.compactMap({ HTTPField.Name($0) }) {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let value =
                    name.rawName == "X-Empty" ? "" : pick(["a", "b  c", "\"q, r\"", "x=1;y", "*/*;q=0.5", "1,2 , 3"])
                call.fields.append(HTTPField(name: name, value: value))
            }
        }
        var covered: [ComponentIdentifier] = [.method, .authority, .path, .query]
        covered += Self.names.compactMap { HTTPField.Name($0) }.map { .field($0) }
        if Bool.random(using: &random) {
            call.method = .post
            call.path = "/v1/mirror" + call.path.drop { $0 != "?" }
            call.body = Array("amount=\(Int.random(in: 0..<1_000, using: &random))".utf8)
            covered.append(.contentDigest)
        }
        covered.shuffle(using: &random)
        call.covered = covered
        return TransitRequest(try await call.signed(), body: call.body)
    }

    private mutating func pick(_ values: [String]) -> String { values.randomElement(using: &random) ?? "" }
}

extension SignedServer {
    /// The port of the server.
    var port: Int { Int(url.split(separator: ":").last ?? "") ?? 0 }

    /// Sends a message to a port, and returns the status of the response and all of its text.
    func send(_ request: TransitRequest, to port: Int) async throws -> (status: String, text: String) {
        let connection = try await RawConnection(to: port, awaiting: "HTTP/1.1 ")
        try await connection.send(request.text([("X-Backend-Port", "\(self.port)")]))
        let text = try await connection.rest()
        return (text.statuses.last ?? "", text)
    }
}
