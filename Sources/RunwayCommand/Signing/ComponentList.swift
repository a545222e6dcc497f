import ArgumentParser
import RunwaySignatures

/// The covered components of `--components` and `--covers`.
///
/// Names are separated by blanks or commas, with or without their quotation marks: `@method,@path,content-digest`, or
/// as in `Signature-Input`: `("@method" "@query-param";name="id")`.
struct ComponentList: ExpressibleByArgument, Sendable {
    let components: CoveredComponents

    init?(argument: String) {
        guard let components = Self.components(of: argument) else { return nil }
        self.components = components
    }

    private static func components(of text: String) -> CoveredComponents? {
        var items = text
        if items.hasPrefix("("), items.hasSuffix(")") { items = String(items.dropFirst().dropLast()) }
        return CoveredComponents(texts: split(items))
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
