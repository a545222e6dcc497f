import HTTPTypes
import Runway

/// The differences, line by line, between the signature base that a server computed and the base that was signed. Used
/// only in development, since other servers do not disclose their signature base (`SignatureRules.explainsRefusals` of
/// `RunwayServer`).
struct BaseDifference: Sendable, Hashable, CustomStringConvertible {
    struct Line: Sendable, Hashable, CustomStringConvertible {
        /// The component, or the name of a line of a salted digest.
        let name: String
        /// The signed value; `nil` if the component was not signed.
        var signed: String?
        /// The server's value; `nil` if the server's signature base does not have the component.
        var received: String?

        var description: String {
            "\(name) was signed as \(Self.text(signed)), and is \(Self.text(received)) to the server"
        }

        private static func text(_ value: String?) -> String {
            guard let value else { return "absent" }
            return value.isEmpty ? "empty" : "\"\(value)\""
        }
    }

    /// The differing lines, at most ``maximumLines``.
    let lines: [Line]

    static let maximumLines = 16
    /// The maximum number of characters that are shown of a value.
    private static let maximumCharacters = 256

    /// - Parameters:
    ///   - signed: The signed signature base, or the signed lines of a salted digest.
    ///   - received: The signature base, or the lines, that the server computed.
    ///   - flight: The call, whose secrets are redacted.
    init(signed: [UInt8], received: String, in flight: Flight) {
        self.init(
            signed: String(decoding: signed, as: UTF8.self), received: received,
            redacting: { flight.redacted($0, $1) })
    }

    /// - Parameter redacting: Redacts the secrets in the value of the line with a name.
    init(signed: String, received: String, redacting: (_ name: String, _ value: String) -> String) {
        let (own, other) = (Self.lines(of: signed), Self.lines(of: received))
        let values = Dictionary(other.map { ($0.name, $0.value) }) { first, _ in first }
        let names = Set(own.map(\.name))
        var lines: [Line] = []
        for line in own where values[line.name] != line.value {
            lines.append(Line(name: line.name, signed: line.value, received: values[line.name]))
        }
        // Values of unsigned components are not shown, since a server could echo secrets of the request there.
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

    var description: String {
        if lines.isEmpty {
            return
                "The server computes the same signature base: the key or the algorithm differs, or the body or the nonce."
        }
        return "The signature bases differ: \(lines.map(\.description).joined(separator: "; "))."
    }

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
    /// Returns the value of a line of a signature base with secrets redacted.
    fileprivate func redacted(_ name: String, _ value: String) -> String {
        let component = name.prefix { $0 != ";" }.filter { $0 != "\"" }
        switch component {
        case "the sorted query", "the sorted form": return String(redacted(url: "?" + value).dropFirst())
        case "@query-param":
            // The query parameter's name is a parameter of the component.
            let parameter = name.firstRange(of: "name=\"").map { name[$0.upperBound...].prefix { $0 != "\"" } } ?? ""
            return String(redacted(url: "?\(parameter)=\(value)").dropFirst(parameter.count + 2))
        case let text where text.hasPrefix("@") || text.hasPrefix("the "): return redacted(url: value)
        default:
            guard let field = HTTPField.Name(component) else { return "not shown" }
            return redacted([field: value])[field] ?? ""
        }
    }
}
