/// Writes a value as JSON with secrets masked, indented or without white space, truncated at a size.
struct RedactedText {
    private let redaction: JSONRedaction
    private let maximumByteCount: Int
    private let isIndented: Bool
    private var output: [UInt8] = []
    /// The index of each open container's end, and whether the container is an object.
    private var openContainers: [(end: Int, isObject: Bool)] = []

    /// Deeper levels get no further indentation: a thousand spaces before each line add no information.
    private static let maximumIndentation = 64

    init(redaction: JSONRedaction, maximumByteCount: Int, isIndented: Bool) {
        self.redaction = redaction
        self.maximumByteCount = maximumByteCount
        self.isIndented = isIndented
    }

    mutating func text(of value: JSONValue) -> String {
        let storage = value.storage
        var index = value.index
        let end = index + value.entry.stride
        var isFirst = true
        while index < end {
            if output.count >= maximumByteCount { return cutText(of: value, at: index) }
            if let container = openContainers.last {
                if index == container.end {
                    openContainers.removeLast()
                    newLine()
                    output.append(container.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
                    isFirst = false
                    index += IndexEntry.wordCount
                    continue
                }
                if !isFirst { output.append(UInt8(ascii: ",")) }
                newLine()
                if container.isObject {
                    let member = JSONMember(value: JSONValue(storage: storage, index: index + 1))
                    write(storage.bytes[member.keyByteRange])
                    output += (isIndented ? ": " : ":").utf8
                    index += 1
                    let isString = member.value.kind == .string
                    if isString ? redaction.isSecretString(member.key) : redaction.isSecret(member.key) {
                        output += "\"\(JSONRedaction.mask)\"".utf8
                        index += member.value.entry.stride
                        isFirst = false
                        continue
                    }
                }
            }
            let child = JSONValue(storage: storage, index: index)
            let entry = child.entry
            if entry.isContainer, child.count > 0 {
                let isObject = entry.tag == .object
                output.append(isObject ? UInt8(ascii: "{") : UInt8(ascii: "["))
                openContainers.append((end: index + entry.extent, isObject: isObject))
                isFirst = true
                index += IndexEntry.wordCount
            } else {
                if entry.isContainer {
                    output += (entry.tag == .object ? "{}" : "[]").utf8
                } else {
                    write(masked(child) ?? child.rawBytes)
                }
                isFirst = false
                index += entry.stride
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns a string with its secrets masked, or `nil` if the value is not a string with secrets.
    private func masked(_ value: JSONValue) -> ArraySlice<UInt8>? {
        guard value.kind == .string, value.rawBytes.contains(where: { "=:>".utf8.contains($0) }),
            let text = value.string
        else { return nil }
        // Leaves space for masks, which may begin within the limit and may be longer than the secrets they replace.
        let bound = min(maximumByteCount - output.count, 16 * text.utf8.count) + 2 * JSONRedaction.mask.utf8.count
        let masked = redaction.redactedText(of: text.utf8, maximumByteCount: bound)
        guard masked.contains(JSONRedaction.mask) else { return nil }
        var writer = JSONWriter()
        writer.string(masked)
        return writer.bytes[...]
    }

    /// Writes bytes of the document. It stops soon after the limit and does not split a UTF-8 sequence.
    private mutating func write(_ bytes: ArraySlice<UInt8>) {
        let room = max(maximumByteCount - output.count, 0)
        if bytes.count <= room {
            output += bytes
            return
        }
        var end = bytes.startIndex + room
        while end > bytes.startIndex, bytes[end] & 0xC0 == 0x80 { end -= 1 }
        output += bytes[..<end]
        output += "…".utf8
    }

    private mutating func newLine() {
        guard isIndented else { return }
        output.append(0x0A)
        output += repeatElement(0x20, count: 2 * min(openContainers.count, Self.maximumIndentation))
    }

    private func cutText(of value: JSONValue, at index: Int) -> String {
        let isName = openContainers.last.map { $0.isObject && index < $0.end } ?? false
        let storage = value.storage
        let offset = isName ? storage.name(ofValueAt: index + 1).offset : storage.entry(at: index).offset
        let rest = value.byteRange.upperBound - offset
        return String(decoding: output, as: UTF8.self) + "\n… (\(rest) more bytes of JSON)"
    }
}
