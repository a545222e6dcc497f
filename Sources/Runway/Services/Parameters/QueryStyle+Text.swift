import Foundation

extension QueryStyle {
    /// Returns the parameters as sorted pairs joined by `&`; empty if there are no parameters.
    ///
    /// - Throws: ``UnencodableParameter`` for the first value that can't be encoded.
    package func text(_ parameters: Parameters) throws(UnencodableParameter) -> String {
        if parameters.isEmpty { return "" }
        let pairs = try sortedPairs(parameters)
        var parts: [String] = []
        parts.reserveCapacity(4 * pairs.count)
        for (name, value) in pairs {
            if !parts.isEmpty { parts.append("&") }
            parts.append(name)
            parts.append("=")
            parts.append(value)
        }
        return String(joining: parts)
    }

    /// Returns the parameters as sorted, unescaped pairs.
    ///
    /// - Throws: ``UnencodableParameter`` for the first value that can't be encoded.
    func fields(_ parameters: Parameters) throws(UnencodableParameter) -> [(name: String, value: String)] {
        try sortedPairs(parameters).map { name, value in
            (name.removingPercentEncoding ?? "", value.removingPercentEncoding ?? "")
        }
    }

    private func sortedPairs(
        _ parameters: Parameters
    ) throws(UnencodableParameter) -> [(name: String, value: String)] {
        var pairs: [(name: String, value: String)] = []
        pairs.reserveCapacity(parameters.entries.count)
        for entry in parameters.entries {
            try append(entry.value, named: escaped(entry.name), at: entry.name, depth: 0, to: &pairs)
        }
        // Swift's sort is stable, so pairs with equal names stay in order. At this point all names are ASCII, so `<`
        // compares them bytewise.
        if pairs.count > 1 { pairs.sort { $0.name < $1.name } }
        return pairs
    }

    private func append(
        _ value: ParameterValue, named name: String, at path: String, depth: Int,
        to pairs: inout [(name: String, value: String)]
    ) throws(UnencodableParameter) {
        guard depth <= UnencodableParameter.maximumDepth else { throw .tooDeep(path) }
        switch value {
        case .null:
            if writesNulls { pairs.append((name, "")) }
        case .array(let elements) where arrays == .commas:
            var texts: [String] = []
            for element in elements { texts.append(escaped(try element.text(in: self, at: path))) }
            if !texts.isEmpty { pairs.append((name, texts.joined(separator: ","))) }
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                let suffix =
                    switch arrays {
                    case .brackets: "[]"
                    case .indices: "[\(index)]"
                    case .repeated, .commas: ""
                    }
                try append(element, named: name + suffix, at: "\(path)[\(index)]", depth: depth + 1, to: &pairs)
            }
        case .object(let members):
            for member in members.entries {
                let inner = escaped(member.name)
                try append(
                    member.value, named: writesDots ? "\(name).\(inner)" : "\(name)[\(inner)]",
                    at: "\(path).\(member.name)", depth: depth + 1, to: &pairs)
            }
        default:
            pairs.append((name, escaped(try value.text(in: self, at: path))))
        }
    }

    private func escaped(_ text: String) -> String { text.percentEncoded(allowing: PercentEncoding.unreserved) }
}

extension ParameterValue {
    /// Returns the unescaped text of a single value.
    fileprivate func text(in style: QueryStyle, at path: String) throws(UnencodableParameter) -> String {
        switch self {
        case .null: ""
        case .bool(let value): style.writesDigits ? value ? "1" : "0" : String(value)
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .double(let value):
            if value.isFinite { value.shortestText } else { throw .notFinite(path) }
        case .decimal(let value):
            if value.isNaN { throw .notFinite(path) } else { "\(value)" }
        case .string(let value): value
        case .date(let value): try style.dates.text(value, at: path)
        case .bytes(let value): Data(value).base64EncodedString()
        case .array, .object: throw .nestedInCommas(path)
        }
    }
}

extension Double {
    /// The shortest text from which parsing restores this number. It has no fraction if the number is whole and exact.
    var shortestText: String {
        if let whole = Int64(exactly: self), whole.magnitude <= 1 << 53 { "\(whole)" } else { "\(self)" }
    }
}

/// The reason why parameters can't be encoded, with the path of the value.
package enum UnencodableParameter: Error, Sendable, Equatable, CustomStringConvertible {
    /// The maximum depth of nested values.
    static let maximumDepth = 64

    /// The number at this path is infinite or not a number.
    case notFinite(String)
    /// The date at this path is outside the years 0 to 9999.
    case dateOutOfRange(String)
    /// The array at this path contains arrays or objects, which can't be separated by commas.
    case nestedInCommas(String)
    /// The value at this path is nested deeper than ``maximumDepth``.
    case tooDeep(String)
    /// The parameters have no names, because the value is a single value or a list.
    case withoutNames

    package var description: String {
        switch self {
        case .notFinite(let path): "The parameter \"\(path)\" is a number that is not finite."
        case .dateOutOfRange(let path): "The parameter \"\(path)\" is a date outside the years 0 to 9999."
        case .nestedInCommas(let path):
            "The parameter \"\(path)\" is nested; only single values can be joined by commas."
        case .tooDeep(let path): "The parameter \"\(path)\" is nested deeper than \(Self.maximumDepth)."
        case .withoutNames: "The parameters of a call have names; this value has none."
        }
    }
}

extension UnencodableParameter: DescribedError {}
