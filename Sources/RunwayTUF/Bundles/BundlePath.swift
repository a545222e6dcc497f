/// Rules for the paths of files in a bundle: each must be one file, inside the bundle, on every file system.
package enum BundlePath {
    /// Returns the first problem of a set of paths, as a sentence; `nil` if all are valid and distinct.
    ///
    /// Paths are refused that are empty, absolute, or longer than 1,024 bytes; that have an empty component, `.`, `..`,
    /// a component of more than 255 bytes, a backslash, a colon, a control character or one that is not displayed; that
    /// differ only in case or in Unicode normalisation; and one that is a folder of another.
    package static func problem(in paths: [String]) -> String? {
        var (files, folders) = (Set<String>(minimumCapacity: paths.count), Set<String>())
        for path in paths {
            if let problem = problem(in: path) { return problem }
            let folded = folded(path)
            // Equality of strings is canonical equivalence.
            guard files.insert(folded).inserted else { return "\(path) is there twice, or in another spelling" }
            var rest = folded[...]
            // Once a folder is known, those above it are too.
            while let slash = rest.utf8.lastIndex(of: UInt8(ascii: "/")) {
                rest = rest[..<slash]
                guard folders.insert(String(rest)).inserted else { break }
            }
        }
        return files.intersection(folders).min().map { "\($0) is a file and a folder" }
    }

    /// Returns a spelling that all spellings of a path have. Upper case maps more letters to one than lower case, but
    /// has some letters of its own, such as "ẞ".
    private static func folded(_ path: String) -> String {
        path.utf8.allSatisfy { $0 < 0x80 } ? path.lowercased() : path.lowercased().uppercased().lowercased()
    }

    private static func problem(in path: String) -> String? {
        guard !path.isEmpty, path.utf8.count <= 1_024 else { return "a path is empty or too long" }
        guard path.unicodeScalars.allSatisfy(isAllowed) else {
            return "a path has a backslash, a colon, a control character or one that is not displayed"
        }
        // Bytes, as a file system has them: a slash before a combining mark is not the character "/".
        for component in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let isReserved = component.elementsEqual(".".utf8) || component.elementsEqual("..".utf8)
            guard !component.isEmpty, !isReserved, component.count <= 255 else {
                return "\(path) has an invalid component"
            }
        }
        return nil
    }

    /// Some file systems ignore characters that are not displayed, so that two names would be one.
    private static func isAllowed(_ scalar: UnicodeScalar) -> Bool {
        if scalar.isASCII { return scalar.value >= 0x20 && scalar.value != 0x7F && scalar != "\\" && scalar != ":" }
        return scalar.value > 0x9F && !scalar.properties.isDefaultIgnorableCodePoint
    }
}
