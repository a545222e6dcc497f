import Foundation

/// Path, query and fragment of an address, as it has them.
struct AddressParts: Sendable {
    let path: String
    let query: String
    let fragment: String
    /// The values of each name in the query.
    let parameters: [String: [String]]

    init(_ address: String) {
        let whole = address.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let location = whole[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = location[0].drop { $0 != ":" }.dropFirst("://".count).drop { $0 != "/" }
        self.path = path.isEmpty ? "/" : String(path)
        query = location.count > 1 ? String(location[1]) : ""
        fragment = whole.count > 1 ? String(whole[1]) : ""
        let pairs = query.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
        parameters = Dictionary(grouping: pairs) { $0.0 }.mapValues { $0.map(\.1) }
    }
}

/// A pattern of addresses. In each part `*` fits any text, and `?` one character.
struct AddressPattern: Sendable {
    struct Component: Decodable {
        var path: String?
        var query: Query?
        var fragment: String?
        var exclude: Bool?
        var caseSensitive: Bool?
        var percentEncoded: Bool?

        enum CodingKeys: String, CodingKey {
            case path = "/"
            case query = "?"
            case fragment = "#"
            case exclude, caseSensitive, percentEncoded
        }
    }

    struct Defaults: Decodable {
        var caseSensitive: Bool?
        var percentEncoded: Bool?
    }

    /// One pattern for the whole query, or one for each name.
    enum Query: Decodable, Sendable {
        case whole(String)
        case parameters([String: String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                self = .whole(text)
            } else {
                self = .parameters(try container.decode([String: String].self))
            }
        }
    }

    /// Whether an address that fits stays in the browser.
    let excludes: Bool
    private let path: String?
    private let query: Query?
    private let fragment: String?
    private let isCaseSensitive: Bool
    private let isPercentEncoded: Bool

    init(_ component: Component, defaults: Defaults?) {
        (path, query, fragment) = (component.path, component.query, component.fragment)
        excludes = component.exclude ?? false
        isCaseSensitive = component.caseSensitive ?? defaults?.caseSensitive ?? true
        isPercentEncoded = component.percentEncoded ?? defaults?.percentEncoded ?? true
    }

    /// Creates the pattern of a text in `paths`, such as `/o/*` or `NOT /o/new`.
    init(path text: String) {
        excludes = text.hasPrefix("NOT ")
        path = excludes ? String(text.dropFirst("NOT ".count)) : text
        (query, fragment, isCaseSensitive, isPercentEncoded) = (nil, nil, true, true)
    }

    /// The pattern, for messages.
    var text: String {
        var text = path ?? "*"
        switch query {
        case .whole(let query): text += "?\(query)"
        case .parameters(let names):
            text += "?" + names.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
        case nil: break
        }
        return fragment.map { "\(text)#\($0)" } ?? text
    }

    var hasVariable: Bool { text.contains("$(") }

    func fits(_ address: AddressParts) -> Bool {
        if let path, !fits(address.path, path) { return false }
        if let fragment, !fits(address.fragment, fragment) { return false }
        switch query {
        case .whole(let query): return fits(address.query, query)
        case .parameters(let names):
            // A name that the address does not have counts as an empty value.
            return names.allSatisfy { name, pattern in
                (address.parameters[name] ?? [""]).allSatisfy { fits($0, pattern) }
            }
        case nil: return true
        }
    }

    private func fits(_ text: String, _ pattern: String) -> Bool {
        var (text, pattern) = (text, pattern)
        if !isPercentEncoded { text = text.removingPercentEncoding ?? text }
        if !isCaseSensitive { (text, pattern) = (text.lowercased(), pattern.lowercased()) }
        return Self.fits(Array(text), Array(pattern))
    }

    /// Compares in a time that is bounded by the product of both lengths.
    private static func fits(_ text: [Character], _ pattern: [Character]) -> Bool {
        var (position, index) = (0, 0)
        // After the last star: where the pattern continues, and where the text that the star fits ends.
        var star: (next: Int, end: Int)?
        while position < text.count {
            if index < pattern.count, pattern[index] == "*" {
                index += 1
                star = (index, position)
            } else if index < pattern.count, pattern[index] == "?" || pattern[index] == text[position] {
                index += 1
                position += 1
            } else if let last = star {
                star = (last.next, last.end + 1)
                (index, position) = (last.next, last.end + 1)
            } else {
                return false
            }
        }
        return pattern[index...].allSatisfy { $0 == "*" }
    }
}
