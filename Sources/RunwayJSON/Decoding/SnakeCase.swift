#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Converts names from `snake_case` to `camelCase` by the rules of Foundation's coders.
enum SnakeCase {
    /// Converts `first_name` to `firstName`; underscores at the beginning and end stay. As in Foundation, a new word
    /// begins after a digit or a hyphen: `has_3d_tour` becomes `has3DTour`.
    static func camelCase(fromSnakeCase name: String) -> String {
        let core = name.drop { $0 == "_" }
        guard let last = core.lastIndex(where: { $0 != "_" }) else { return name }
        let leading = name[..<core.startIndex]
        let trailing = core[core.index(after: last)...]
        let words = core[...last].split(separator: "_")
        guard words.count > 1 else { return name }
        let camel = words[0].lowercased() + words.dropFirst().map(\.capitalized).joined()
        return leading + camel + trailing
    }
}
