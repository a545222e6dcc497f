/// One step of a path: into an object by a name, or into an array by an index.
enum JSONPathStep: Sendable, Hashable {
    case name(String)
    case index(Int)

    func append(to path: inout String) {
        switch self {
        case .index(let index): path += "[\(index)]"
        case .name(let name) where Self.isPlain(name): path += path.isEmpty ? name : ".\(name)"
        case .name(let name):
            var writer = JSONWriter()
            writer.string(name)
            path += "[\(String(decoding: writer.bytes, as: UTF8.self))]"
        }
    }

    /// Returns the path as text; `$` if there are no steps.
    static func path(_ steps: [JSONPathStep]) -> String {
        var path = ""
        for step in steps { step.append(to: &path) }
        return path.isEmpty ? "$" : path
    }

    /// Whether a name needs no brackets in a path: an ASCII letter or `_`, followed by ASCII letters, digits and `_`.
    private static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, first == UInt8(ascii: "_") || isLetter(first) else { return false }
        return name.utf8.allSatisfy { isLetter($0) || $0 == UInt8(ascii: "_") || (0x30...0x39).contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }
}

/// The reason why a value is absent.
enum JSONAbsence: Sendable {
    /// The document could not be read.
    case invalid(JSONError)
    /// The lookups, starting at an existing value, that led to the absent value. `first` is the step that failed.
    case lookup(from: JSONValue, first: JSONPathStep, rest: [JSONPathStep])
}
