/// Rules for the paths of files in a bundle: each must be one file, inside the bundle, on every file system.
package enum BundlePath {
    /// Returns the first problem of a set of paths, as a sentence; `nil` if all are valid and distinct.
    ///
    /// Paths are refused that are empty, absolute, or longer than 1,024 bytes; that have an empty component, `.`, `..`,
    /// a component of more than 255 bytes, a backslash, a colon or a control character; that differ only in case or in
    /// Unicode normalisation; and one that is a folder of another.
    package static func problem(in paths: [String]) -> String? {
        var files: Set<String> = []
        for path in paths {
            if let problem = problem(in: path) { return problem }
            // Equality of strings is canonical equivalence. Upper case first, since it maps more letters to one.
            guard files.insert(folded(path)).inserted else { return "\(path) is there twice, or in another spelling" }
        }
        for path in files {
            var rest = path[...]
            while let slash = rest.lastIndex(of: "/") {
                rest = rest[..<slash]
                if files.contains(String(rest)) { return "\(rest) is a file and a folder" }
            }
        }
        return nil
    }

    private static func folded(_ path: String) -> String { path.uppercased().lowercased() }

    private static func problem(in path: String) -> String? {
        guard !path.isEmpty, path.utf8.count <= 1_024 else { return "a path is empty or too long" }
        let isInvalid = path.unicodeScalars.contains { scalar in
            scalar == "\\" || scalar == ":" || scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value)
        }
        if isInvalid { return "a path has a backslash, a colon or a control character" }
        for component in path.split(separator: "/", omittingEmptySubsequences: false) {
            guard !component.isEmpty, component != ".", component != "..", component.utf8.count <= 255 else {
                return "\(path) has an invalid component"
            }
        }
        return nil
    }
}
