/// A pattern for paths (§4.5): `*` stands for any characters, `?` for one, `[a-c]` for one of a set, `[!a-c]` for one
/// outside it. None of them stands for `/`. Characters are Unicode scalars.
package struct PathPattern: Sendable {
    private enum Element: Sendable {
        case scalar(UnicodeScalar)
        case any
        case anySequence
        case set([ClosedRange<UnicodeScalar>], isNegated: Bool)

        func matches(_ scalar: UnicodeScalar) -> Bool {
            switch self {
            case .scalar(let expected): scalar == expected
            case .any: scalar != "/"
            case .set(let ranges, let isNegated):
                scalar != "/" && ranges.contains { $0.contains(scalar) } != isNegated
            case .anySequence: false
            }
        }
    }

    private let elements: [Element]

    package init(_ text: String) {
        var rest = Array(text.unicodeScalars)[...]
        var elements: [Element] = []
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": elements.append(.anySequence)
            case "?": elements.append(.any)
            case "[":
                if let set = Self.takeSet(&rest) { elements.append(set) } else { elements.append(.scalar(scalar)) }
            default: elements.append(.scalar(scalar))
            }
        }
        self.elements = elements
    }

    /// Removes a set after its `[`. Returns `nil`, and removes nothing, if it has no end.
    private static func takeSet(_ rest: inout ArraySlice<UnicodeScalar>) -> Element? {
        var body = rest
        let isNegated = body.first == "!"
        if isNegated { body.removeFirst() }
        // A `]` at the beginning is a member of the set.
        guard let end = body.dropFirst().firstIndex(of: "]") else { return nil }
        rest = body[(end + 1)...]
        body = body[..<end]
        var ranges: [ClosedRange<UnicodeScalar>] = []
        while let low = body.popFirst() {
            if body.count > 1, body.first == "-", let high = body.dropFirst().first {
                body.removeFirst(2)
                if low <= high { ranges.append(low...high) }
            } else {
                ranges.append(low...low)
            }
        }
        return .set(ranges, isNegated: isNegated)
    }

    /// Returns whether the pattern stands for a whole path. Takes time in proportion to the product of both lengths.
    package func matches(_ path: String) -> Bool {
        let path = Array(path.unicodeScalars)
        var (place, element) = (0, 0)
        // After a mismatch, the last `*` takes one more character. Earlier ones need not be tried again.
        var retry: (place: Int, element: Int)?
        while place < path.count {
            if element < elements.count, case .anySequence = elements[element] {
                element += 1
                retry = (place, element)
            } else if element < elements.count, elements[element].matches(path[place]) {
                (place, element) = (place + 1, element + 1)
            } else if let last = retry, path[last.place] != "/" {
                retry = (last.place + 1, last.element)
                (place, element) = (last.place + 1, last.element)
            } else {
                return false
            }
        }
        return elements[element...].allSatisfy { if case .anySequence = $0 { true } else { false } }
    }
}
