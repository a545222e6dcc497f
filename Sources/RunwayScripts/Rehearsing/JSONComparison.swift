import RunwayJSON

/// Compares two JSON values as an app reads them, and collects where they differ. Pure.
///
/// Numbers are compared by value, so that 1 and 1.0 are equal; strings by their Unicode scalars; members by name,
/// whatever their order. A member that is `null` equals an absent one, as for an optional property. Nothing is compared
/// with a string that is masked, or a part of it.
struct JSONComparison {
    /// The most differences that are collected.
    static let maximumDifferences = 8

    private(set) var differences: [PatchRehearsal.Difference] = []

    init(_ expected: JSONValue, _ actual: JSONValue) { compare(expected, actual) }

    private mutating func compare(_ expected: JSONValue, _ actual: JSONValue) {
        guard differences.count < Self.maximumDifferences, !Self.isMasked(expected) else { return }
        switch (expected.kind, actual.kind) {
        case (.object, .object): compareMembers(expected, actual)
        case (.array, .array):
            for (one, other) in zip(expected.elements, actual.elements) { compare(one, other) }
            if expected.count < actual.count {
                compare(expected[expected.count], actual[expected.count])
            } else if expected.count > actual.count {
                compare(expected[actual.count], actual[actual.count])
            }
        case (.number, .number): if !Self.areEqual(expected, actual) { add(expected, actual) }
        case (.string, .string):
            if !(expected.string ?? "").utf8.elementsEqual((actual.string ?? "").utf8) { add(expected, actual) }
        case (.boolean, .boolean): if expected.bool != actual.bool { add(expected, actual) }
        case (.null, .null): break
        default: add(expected, actual)
        }
    }

    private mutating func compareMembers(_ expected: JSONValue, _ actual: JSONValue) {
        // By bytes, since two strings may be equal whose scalars differ.
        func byName(_ object: JSONValue) -> [[UInt8]: JSONValue] {
            Dictionary(object.members.map { (Array($0.key.utf8), $0.value) }, uniquingKeysWith: { first, _ in first })
        }
        let (others, names) = (byName(actual), byName(expected))
        // Looking up an absent member scans the whole object, so only reported members are looked up.
        for member in expected.members where differences.count < Self.maximumDifferences {
            if let other = others[Array(member.key.utf8)] {
                compare(member.value, other)
            } else if !member.value.isNull {
                compare(member.value, actual[member.key])
            }
        }
        for member in actual.members where differences.count < Self.maximumDifferences {
            if names[Array(member.key.utf8)] == nil, !member.value.isNull { add(expected[member.key], member.value) }
        }
    }

    /// Whether a string is masked, or a part of it, such as a parameter of a URL.
    private static func isMasked(_ value: JSONValue) -> Bool {
        value.kind == .string && (value.string ?? "").contains(JSONRedaction.mask)
    }

    private static func areEqual(_ one: JSONValue, _ other: JSONValue) -> Bool {
        if let one = one.int64, let other = other.int64 { return one == other }
        if let one = one.uint64, let other = other.uint64 { return one == other }
        if let one = one.double, let other = other.double { return one == other }
        return one.rawBytes == other.rawBytes
    }

    private mutating func add(_ expected: JSONValue, _ actual: JSONValue) {
        guard differences.count < Self.maximumDifferences else { return }
        differences.append(
            PatchRehearsal.Difference(
                path: expected.exists ? expected.path : actual.path, expected: Self.text(expected),
                actual: Self.text(actual)))
    }

    static func text(_ value: JSONValue) -> String { value.exists ? text(value.rawBytes) : "nothing" }

    /// The first 120 bytes of a value.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if bytes.count <= 120 { return String(decoding: bytes, as: UTF8.self) }
        var end = bytes.startIndex + 120
        while bytes[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: bytes[..<end], as: UTF8.self) + "…"
    }
}
