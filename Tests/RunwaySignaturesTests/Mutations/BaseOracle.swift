/// The signature base, written a second time and naively, from the text of a message.
///
/// It shares nothing with the code under test: it splits strings where that works on bytes, and knows only the components of the
/// tests.
struct BaseOracle {
    let method: String
    let target: String
    let host: String
    let fields: [(name: String, value: String)]

    /// The value of a component by its serialised identifier. `nil` if it cannot be derived.
    func value(of identifier: String) -> String? {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch identifier {
        case #""@method""#: return method
        case #""@authority""#: return authority
        case #""@path""#: return parts[0].isEmpty ? "/" : parts[0]
        case #""@query""#: return "?" + (parts.count > 1 ? parts[1] : "")
        case #""@target-uri""#: return "https://" + authority + target
        default:
            let name = String(identifier.dropFirst().dropLast())
            let values = fields.filter { $0.name.lowercased() == name }.map { trimmed($0.value) }
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
    }

    /// What is signed: all that a signature covers, and nothing else. Two messages with equal values have the same meaning to it.
    func base(of identifiers: [String]) -> String? {
        var lines: [String] = []
        for identifier in identifiers {
            guard let value = value(of: identifier) else { return nil }
            lines.append("\(identifier): \(value)")
        }
        return lines.joined(separator: "\n")
    }

    private var authority: String {
        let lowercased = host.lowercased()
        return lowercased.hasSuffix(":443") ? String(lowercased.dropLast(4)) : lowercased
    }

    private func trimmed(_ text: String) -> String {
        var text = text[...]
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        return String(text)
    }
}
