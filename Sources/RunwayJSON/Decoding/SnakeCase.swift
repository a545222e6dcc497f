#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Converts names between `snake_case` and `camelCase` by the rules of Foundation's coders.
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

    /// Converts `firstName` to `first_name`, and `myURLProperty` to `my_url_property`.
    static func snakeCase(fromCamelCase name: String) -> String {
        let letters = Array(name)
        var words: [ArraySlice<Character>] = []
        var start = 0
        var searched = 1
        while searched < letters.count, let capital = letters[searched...].firstIndex(where: \.isUppercase) {
            words.append(letters[start..<capital])
            guard let small = letters[capital...].firstIndex(where: \.isLowercase) else {
                start = capital
                break
            }
            // The last capital of a run begins the next word; the capitals before it form a word.
            if small > capital + 1 { words.append(letters[capital..<(small - 1)]) }
            start = small - 1
            searched = small + 1
        }
        words.append(letters[start...])
        return words.map { String($0).lowercased() }.joined(separator: "_")
    }
}
