import Foundation

/// The signature base, written a second time and naively, from the text of a message.
///
/// It shares nothing with the code under test: it splits strings where that works on bytes, it knows only the components of the tests,
/// and it is passed the members of a structured field where that parses them.
struct BaseOracle {
    let method: String
    let target: String
    let host: String
    let fields: [(name: String, value: String)]
    var trailers: [(name: String, value: String)] = []
    /// The members of the field `Example-Dict` and their canonical values, `?1` with its parameters for those without a value.
    var dictionary: [(key: String, value: String)] = []
    /// The status and the fields of the response that is signed; `nil` if the request is.
    var response: (status: Int, fields: [(name: String, value: String)])?

    /// The value of a component by its serialised identifier. `nil` if it cannot be derived.
    func value(of identifier: String) -> String? {
        let words = identifier.components(separatedBy: ";")
        let name = words[0].replacingOccurrences(of: "\"", with: "")
        let isFromRequest = words.contains("req")
        if name == "@status" { return response.map { String($0.status) } }
        if name.hasPrefix("@") {
            guard isFromRequest == (response != nil) else { return nil }
            return derived(name, words)
        }
        var lines = response.map { isFromRequest ? fields : $0.fields } ?? fields
        if words.contains("tr") { lines = trailers }
        if words.contains("sf") {
            return dictionary.isEmpty ? nil : dictionary.map { member($0) }.joined(separator: ", ")
        }
        if let key = words.first(where: { $0.hasPrefix("key=") })?.dropFirst(5).dropLast() {
            return dictionary.first { $0.key == key }?.value
        }
        let values = lines.filter { $0.name.lowercased() == name }.map { trimmed($0.value) }
        if values.isEmpty { return nil }
        if words.contains("bs") {
            return values.map { ":" + Data($0.utf8).base64EncodedString() + ":" }.joined(separator: ", ")
        }
        return values.joined(separator: ", ")
    }

    private func derived(_ name: String, _ words: [String]) -> String? {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch name {
        case "@method": return method
        case "@authority": return authority
        case "@scheme": return "https"
        case "@path": return parts[0].isEmpty ? "/" : parts[0]
        case "@query": return "?" + (parts.count > 1 ? parts[1] : "")
        case "@target-uri": return "https://" + authority + target
        case "@request-target": return target
        case "@query-param":
            let wanted = words.first { $0.hasPrefix("name=") }.map { String($0.dropFirst(6).dropLast()) }
            let pairs = (parts.count > 1 ? parts[1] : "").components(separatedBy: "&").filter { !$0.isEmpty }
            let found = pairs.map { pair -> (String, String) in
                let sides = pair.components(separatedBy: "=")
                return (formEncoded(sides[0]), formEncoded(sides.dropFirst().joined(separator: "=")))
            }.filter { $0.0 == wanted }
            return found.count == 1 ? found[0].1 : nil
        default: return nil
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

    private func member(_ member: (key: String, value: String)) -> String {
        member.value.hasPrefix("?1") ? member.key + member.value.dropFirst(2) : member.key + "=" + member.value
    }

    /// A name or a value of a query, decoded and encoded as HTML forms are.
    private func formEncoded(_ text: String) -> String {
        let spaced = text.replacingOccurrences(of: "+", with: " ")
        // Foundation decodes a text with a percent sign that stands for itself not at all.
        var decoded = ""
        var rest = spaced[...]
        while let first = rest.first {
            let escape = rest.prefix(3)
            if first == "%", escape.count == 3, let whole = String(escape).removingPercentEncoding {
                decoded += whole
                rest = rest.dropFirst(3)
            } else {
                decoded.append(first)
                rest = rest.dropFirst()
            }
        }
        let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789*-._"
        return decoded.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: letters)) ?? ""
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

/// What the fields of a signature say, read a second time and naively: without the label, without the spaces between tokens, and numbers
/// without leading zeros.
struct ParameterOracle {
    let parameters: String
    let signature: String

    /// `nil` if the fields are not those of one signature.
    init?(input: String, signature: String) {
        guard let input = Self.member(input), let signature = Self.member(signature), input.label == signature.label
        else {
            return nil
        }
        self.parameters = Self.normalized(input.value)
        // Parameters of the value say nothing (RFC 9421 §4.2), and its padding may be absent (RFC 9651 §4.2.7).
        self.signature = signature.value.components(separatedBy: ";")[0].trimmingCharacters(in: .whitespaces)
            .replacingOccurrences(of: "=+:$", with: ":", options: .regularExpression)
    }

    private static func member(_ text: String) -> (label: String, value: String)? {
        let text = text.trimmingCharacters(in: .whitespaces)
        guard let sign = text.firstIndex(of: "=") else { return nil }
        return (String(text[..<sign]), String(text[text.index(after: sign)...]))
    }

    private static func normalized(_ text: String) -> String {
        var (result, isQuoted, isEscaped) = ("", false, false)
        for character in text {
            if isQuoted {
                if isEscaped {
                    isEscaped = false
                } else if character == "\\" {
                    isEscaped = true
                } else if character == "\"" {
                    isQuoted = false
                }
                result.append(character)
            } else if character == " " {
                // One space separates components; all others are nothing.
                if result.hasSuffix("\"") { result.append(" ") }
            } else {
                if character == "\"" { isQuoted = true }
                if character == ")" || character == ";", result.hasSuffix(" ") { result.removeLast() }
                result.append(character)
            }
        }
        return result.trimmingCharacters(in: .whitespaces)
            .replacingOccurrences(of: "=(-?)0+([0-9])", with: "=$1$2", options: .regularExpression)
    }
}
