import HTTPTypes
import Runway

/// The differences, line by line, between the signature base that a server computed and the base that was signed. For
/// development: only then does a server explain its refusals (`SignatureRules.explainsRefusals` of `RunwayServer`).
struct BaseDifference: Sendable, Hashable, CustomStringConvertible {
    /// One line that differs.
    struct Line: Sendable, Hashable, CustomStringConvertible {
        /// The component, or the place of a line of a salted digest.
        let name: String
        /// The value that was signed; `nil` if it was not.
        var signed: String?
        /// The server's value; `nil` if it has none.
        var received: String?

        var description: String {
            "\(name) was signed as \(Self.text(signed)), and is \(Self.text(received)) to the server"
        }

        private static func text(_ value: String?) -> String {
            guard let value else { return "absent" }
            return value.isEmpty ? "empty" : "\"\(value)\""
        }
    }

    /// The lines that differ, at most ``maximumLines``.
    let lines: [Line]

    /// The most lines that are shown.
    static let maximumLines = 16
    /// The most characters of a value that are shown.
    private static let maximumCharacters = 256

    /// - Parameters:
    ///   - signed: The signature base that was signed, or the lines of a salted digest.
    ///   - received: The signature base, or the lines, that the server computed.
    ///   - flight: The call, whose secrets are not shown.
    init(signed: [UInt8], received: String, in flight: Flight) {
        self.init(
            signed: String(decoding: signed, as: UTF8.self), received: received,
            redacting: { flight.redacted($0, $1) })
    }

    /// - Parameter redacting: Removes the secrets from the value of the line with a name.
    init(signed: String, received: String, redacting: (_ name: String, _ value: String) -> String) {
        let (own, other) = (Self.lines(of: signed), Self.lines(of: received))
        let values = Dictionary(other.map { ($0.name, $0.value) }) { first, _ in first }
        let names = Set(own.map(\.name))
        var lines: [Line] = []
        for line in own where values[line.name] != line.value {
            lines.append(Line(name: line.name, signed: line.value, received: values[line.name]))
        }
        // A server may say anything about components that were not signed, even secrets of the request.
        if other.contains(where: { !names.contains($0.name) }) {
            lines.append(Line(name: "a component that is not shown", received: "present"))
        }
        func shown(_ value: String?, of name: String) -> String? {
            value.map { String(redacting(name, $0).prefix(Self.maximumCharacters)) }
        }
        self.lines = lines.prefix(Self.maximumLines).map { line in
            Line(
                name: String(line.name.prefix(Self.maximumCharacters)), signed: shown(line.signed, of: line.name),
                received: shown(line.received, of: line.name))
        }
    }

    /// The difference in one sentence.
    var description: String {
        if lines.isEmpty {
            return
                "The server computes the same signature base: the key or the algorithm differs, or the body or the nonce."
        }
        return "The signature bases differ: \(lines.map(\.description).joined(separator: "; "))."
    }

    /// The names of the ten lines of a salted digest (`docs/formats.md`).
    private static let digestLines = [
        "the version", "the method", "the path", "the query", "the sorted query", "the content type", "the sorted form",
        "the digest of the body", "ts", "nonce",
    ]

    private static func lines(of base: String) -> [(name: String, value: String)] {
        let lines = base.split(separator: "\n", omittingEmptySubsequences: false)
        if lines.first == "runway-digest-1" {
            return zip(digestLines, lines).map { ($0, String($1)) }
        }
        return lines.map { line in
            guard let range = line.firstRange(of: ": ") else { return (String(line), "") }
            return (String(line[..<range.lowerBound]), String(line[range.upperBound...]))
        }
    }
}

extension Flight {
    /// Returns the value of a line of a signature base without secrets.
    fileprivate func redacted(_ name: String, _ value: String) -> String {
        let component = name.prefix { $0 != ";" }.filter { $0 != "\"" }
        switch component {
        case "the sorted query", "the sorted form": return String(redacted(url: "?" + value).dropFirst())
        case "@query-param":
            // The name of the parameter is among the parameters of the component.
            let parameter = name.firstRange(of: "name=\"").map { name[$0.upperBound...].prefix { $0 != "\"" } } ?? ""
            return String(redacted(url: "?\(parameter)=\(value)").dropFirst(parameter.count + 2))
        case let text where text.hasPrefix("@") || text.hasPrefix("the "): return redacted(url: value)
        default:
            guard let field = HTTPField.Name(component) else { return "not shown" }
            return redacted([field: value])[field] ?? ""
        }
    }
}
