import ArgumentParser
import HTTPTypes
import RunwaySignatures

/// The covered components of `--components`.
///
/// Names are separated by blanks or commas, with or without their quotation marks: `@method,@path,content-digest`, or as in
/// `Signature-Input`: `("@method" "@query-param";name="id")`.
struct ComponentList: ExpressibleByArgument, Sendable {
    let components: CoveredComponents

    init?(argument: String) {
        guard let components = Self.components(of: argument) else { return nil }
        self.components = components
    }

    private static func components(of text: String) -> CoveredComponents? {
        var items = text
        if items.hasPrefix("("), items.hasSuffix(")") { items = String(items.dropFirst().dropLast()) }
        let quoted = split(items).map { item -> String in
            if item.hasPrefix("\"") { return item }
            let name = item.prefix { $0 != ";" }
            return "\"\(name)\"\(item[name.endIndex...])"
        }
        // The field that asks for signatures has the same list.
        var fields = HTTPFields()
        fields[.acceptSignature] = "list=(\(quoted.joined(separator: " ")))"
        return (try? fields.signatureRequests())?.first?.components
    }

    /// The items, divided at blanks and commas outside of quotation marks.
    private static func split(_ text: String) -> [String] {
        var items = [""]
        var isQuoted = false
        for character in text {
            if character == "\"" { isQuoted.toggle() }
            if !isQuoted, character == " " || character == "," {
                items.append("")
            } else {
                items[items.count - 1].append(character)
            }
        }
        return items.filter { !$0.isEmpty }
    }
}
