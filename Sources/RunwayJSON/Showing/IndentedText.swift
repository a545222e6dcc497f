/// Indented JSON of a value with secrets masked, cut off at a size.
struct IndentedText {
    private let redaction: JSONRedaction
    private let maximumByteCount: Int
    private var output: [UInt8] = []
    /// For each open container: where it ends in the index, and whether it is an object.
    private var openContainers: [(end: Int, isObject: Bool)] = []

    init(redaction: JSONRedaction, maximumByteCount: Int) {
        self.redaction = redaction
        self.maximumByteCount = maximumByteCount
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
                    index += 1
                    continue
                }
                if !isFirst { output.append(UInt8(ascii: ",")) }
                newLine()
                if container.isObject {
                    let member = JSONMember(value: JSONValue(storage: storage, index: index + 1))
                    write(storage.bytes[member.keyByteRange])
                    output += ": ".utf8
                    index += 1
                    if redaction.isSecret(member.key) {
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
                index += 1
            } else {
                if entry.isContainer {
                    output += (entry.tag == .object ? "{}" : "[]").utf8
                } else {
                    write(child.rawBytes)
                }
                isFirst = false
                index += entry.stride
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Writes bytes of the document, but never far beyond the bound, and never half a sequence of UTF-8.
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
        output.append(0x0A)
        output += repeatElement(0x20, count: 2 * openContainers.count)
    }

    private func cutText(of value: JSONValue, at index: Int) -> String {
        let entry = value.storage.entry(at: index)
        let rest = value.byteRange.upperBound - entry.offset
        return String(decoding: output, as: UTF8.self) + "\n… (\(rest) more bytes of JSON)"
    }
}
