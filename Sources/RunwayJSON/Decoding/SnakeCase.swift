/// Names between `snake_case` and `camelCase`, by the rules of Foundation's coders.
enum SnakeCase {
    /// `first_name` becomes `firstName`; underscores at the beginning and end stay.
    static func camelCase(fromSnakeCase name: String) -> String {
        let core = name.drop { $0 == "_" }
        guard let last = core.lastIndex(where: { $0 != "_" }) else { return name }
        let leading = name[..<core.startIndex]
        let trailing = core[core.index(after: last)...]
        let words = core[...last].split(separator: "_")
        guard words.count > 1 else { return name }
        let camel = words[0].lowercased() + words.dropFirst().map { $0.capitalizedWord }.joined()
        return leading + camel + trailing
    }

    /// `firstName` becomes `first_name`, `myURLProperty` becomes `my_url_property`.
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
            // Of a run of capitals the last one begins the next word; those before it are a word of their own.
            if small > capital + 1 { words.append(letters[capital..<(small - 1)]) }
            start = small - 1
            searched = small + 1
        }
        words.append(letters[start...])
        return words.map { String($0).lowercased() }.joined(separator: "_")
    }
}

extension Substring {
    /// The word with its first letter large and all others small.
    fileprivate var capitalizedWord: String { prefix(1).uppercased() + dropFirst().lowercased() }
}
