/// Writes JSON for cache keys, signing and logs: its bytes depend only on the content.
///
/// The text is compact, without any white space. In strings only the required characters are escaped (RFC 8259 §7):
/// `"`, `\` and control characters. Control characters are written as `\b \f \n \r \t` or as `\u00` with two lower-case
/// hexadecimal digits. `/` and everything beyond ASCII are written unchanged. Members are in the order in which they
/// are written, or sorted by the UTF-8 bytes of their names, which is the order of their Unicode scalars.
///
/// ```swift
/// var writer = JSONWriter(sortsKeys: true)
/// writer.beginObject()
/// writer.name("city")
/// writer.string("上海")
/// writer.endObject()
/// let text = String(decoding: writer.bytes, as: UTF8.self)  // {"city":"上海"}
/// ```
///
/// Calls must balance, and inside an object each value must have a name before it. A call out of order is an error of
/// the program and traps.
public struct JSONWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []
    /// Whether members are sorted by name. The default is `false`.
    public let sortsKeys: Bool

    private struct OpenContainer {
        let isObject: Bool
        let start: Int
        var isEmpty = true
        var isNamed = false
        /// The names of the written members, each with the position of its first byte. Recorded only if members are
        /// sorted.
        var members: [(name: String, start: Int)] = []
    }

    private var openContainers: [OpenContainer] = []

    /// Creates an empty writer.
    ///
    /// - Parameter sortsKeys: Whether members are sorted by name. The default is `false`.
    public init(sortsKeys: Bool = false) { self.sortsKeys = sortsKeys }

    /// Writes `{`.
    public mutating func beginObject() { open(isObject: true) }

    /// Writes `}`. The innermost open container must be an object.
    public mutating func endObject() { close(isObject: true) }

    /// Writes `[`.
    public mutating func beginArray() { open(isObject: false) }

    /// Writes `]`. The innermost open container must be an array.
    public mutating func endArray() { close(isObject: false) }

    /// Writes a member's name. Write its value next.
    public mutating func name(_ name: String) {
        let last = openContainers.count - 1
        precondition(last >= 0 && openContainers[last].isObject, "a name outside an object")
        precondition(!openContainers[last].isNamed, "a name where a value must come")
        if !openContainers[last].isEmpty { bytes.append(UInt8(ascii: ",")) }
        if sortsKeys { openContainers[last].members.append((name, bytes.count)) }
        openContainers[last].isEmpty = false
        openContainers[last].isNamed = true
        JSONEscaping.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }

    /// Writes a string in quotation marks, escaped where required.
    public mutating func string(_ text: String) {
        beginValue()
        JSONEscaping.append(text, to: &bytes)
    }

    /// Writes an integer in decimal digits.
    public mutating func integer(_ value: some BinaryInteger) { literal(String(value)) }

    /// Writes a double with the fewest digits that read back as the same double; `1.0` is written as `1`.
    ///
    /// - Throws: ``JSONError`` of kind `unwritable` for an infinity or NaN.
    public mutating func double(_ value: Double) throws(JSONError) {
        try literal(number: "\(value)", isFinite: value.isFinite)
    }

    /// Writes a float with the fewest digits that read back as the same float; `1.0` is written as `1`.
    ///
    /// - Throws: ``JSONError`` of kind `unwritable` for an infinity or NaN.
    public mutating func float(_ value: Float) throws(JSONError) {
        try literal(number: "\(value)", isFinite: value.isFinite)
    }

    /// Writes `true` or `false`.
    public mutating func bool(_ value: Bool) { literal(value ? "true" : "false") }

    /// Writes `null`.
    public mutating func null() { literal("null") }

    mutating func literal(_ text: String) {
        beginValue()
        bytes += text.utf8
    }

    private mutating func literal(number: String, isFinite: Bool) throws(JSONError) {
        guard isFinite else { throw JSONError(kind: .unwritable, expected: "a finite number", found: number) }
        literal(number.hasSuffix(".0") ? String(number.dropLast(2)) : number)
    }

    private mutating func beginValue() {
        guard let last = openContainers.indices.last else {
            precondition(bytes.isEmpty, "a second value outside a container")
            return
        }
        if openContainers[last].isObject {
            precondition(openContainers[last].isNamed, "a member's value without a name")
            openContainers[last].isNamed = false
        } else {
            if !openContainers[last].isEmpty { bytes.append(UInt8(ascii: ",")) }
            openContainers[last].isEmpty = false
        }
    }

    private mutating func open(isObject: Bool) {
        beginValue()
        bytes.append(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
        openContainers.append(OpenContainer(isObject: isObject, start: bytes.count))
    }

    private mutating func close(isObject: Bool) {
        guard let container = openContainers.popLast(), container.isObject == isObject, !container.isNamed else {
            preconditionFailure("an end without its beginning, or a name without its value")
        }
        if container.members.count > 1 { sort(container) }
        bytes.append(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
    }

    /// Sorts the members of the object just written, unless they are in order. The sort is stable for equal names.
    private mutating func sort(_ container: OpenContainer) {
        let pairs = zip(container.members, container.members.dropFirst())
        if pairs.allSatisfy({ !$1.name.utf8.lexicographicallyPrecedes($0.name.utf8) }) { return }
        let ends = container.members.dropFirst().map { $0.start - 1 } + [bytes.count]
        let members = zip(container.members, ends).map { (name: $0.name, range: $0.start..<$1) }
        let sorted = members.enumerated().sorted { one, other in
            if one.element.name.utf8.elementsEqual(other.element.name.utf8) { return one.offset < other.offset }
            return one.element.name.utf8.lexicographicallyPrecedes(other.element.name.utf8)
        }
        let body = sorted.map { bytes[$0.element.range] }.joined(separator: [UInt8(ascii: ",")])
        bytes.replaceSubrange(container.start..., with: Array(body))
    }
}
