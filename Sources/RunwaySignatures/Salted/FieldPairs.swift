/// Parses a header field of the form `name=value, name=value` with fixed names.
struct FieldPairs {
    private let values: [Substring: Substring]

    /// The maximum size of a field in bytes.
    private static let maximumBytes = 8_192

    /// Parses a field. Throws a ``SignatureError`` unless the field occurs once and has each of the names exactly once,
    /// in any order.
    init(_ lines: [String], names: Set<Substring>, field: String) throws(SignatureError) {
        guard let line = lines.first else { throw SignatureError(.missing, field) }
        guard lines.count == 1 else { throw SignatureError(.duplicateName, field) }
        guard line.utf8.count <= Self.maximumBytes else { throw SignatureError(.tooLarge, field) }
        var values: [Substring: Substring] = [:]
        for part in line.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.drop { $0 == " " || $0 == "\t" }
            guard let sign = pair.firstIndex(of: "="), !pair.contains(where: { $0 == " " || $0 == "\"" }) else {
                throw SignatureError(.invalidValue, field)
            }
            guard values.updateValue(pair[sign...].dropFirst(), forKey: pair[..<sign]) == nil else {
                throw SignatureError(.duplicateName, field)
            }
        }
        guard Set(values.keys) == names, values["v"] == "1" else { throw SignatureError(.invalidValue, field) }
        self.values = values
    }

    subscript(_ name: Substring) -> Substring { values[name] ?? "" }
}
