// libFuzzer's target for the reader. It is compiled into the module, so that it sees the index and every scan.

import Foundation

/// Reads bytes in every way there is; whatever two ways disagree on ends the process.
@_cdecl("LLVMFuzzerTestOneInput")
public func readAnything(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    let narrow = JSONLimits(maximumByteCount: 200, maximumDepth: 3, maximumValueCount: 12)
    for limits in [JSONLimits.default, narrow] { ReaderFuzz(bytes: bytes, limits: limits).run() }
    // Behind so many spaces that the border between the first two chunks of a scan goes through the bytes, or stands shortly
    // before or behind them; where it is depends on the size, so that the fuzzer can move it.
    let blanks = [UInt8](repeating: 0x20, count: 4096 - size % 70)
    ReaderFuzz(bytes: blanks + bytes, limits: .default).runAcrossChunks(after: blanks.count)
    return 0
}

private struct ReaderFuzz {
    let bytes: [UInt8]
    let limits: JSONLimits

    func run() {
        let storages = PlaceScan.all.map { JSONStorage(indexing: bytes, limits: limits, scan: $0) }
        let error = GrammarCheck.error(in: bytes, limits: limits)
        for storage in storages { precondition((storage == nil) == (error != nil), "index and grammar check disagree") }
        if let error { check(error) }
        guard let portable = storages.last ?? nil else { return }
        for storage in storages { precondition(storage.map(words) == words(portable), "two scans disagree") }
        let root = JSONValue(storage: portable, index: 0)
        check(root)
        checkWriting(root)
    }

    /// Every scan finds the same behind some spaces, which a byte order mark may not stand behind, as without these.
    func runAcrossChunks(after blankCount: Int) {
        let storages = PlaceScan.all.map { JSONStorage(indexing: bytes, limits: limits, scan: $0) }
        let error = GrammarCheck.error(in: bytes, limits: limits)
        for storage in storages { precondition((storage == nil) == (error != nil), "index and grammar check disagree") }
        guard let portable = storages.last ?? nil else { return }
        for storage in storages { precondition(storage.map(words) == words(portable), "two scans disagree") }
        let alone = JSONStorage(indexing: Array(bytes[blankCount...]), limits: limits)
        precondition(alone.map(words)?.count == words(portable).count, "spaces before a document change its index")
        let root = JSONValue(storage: portable, index: 0)
        precondition(
            alone.map { JSONValue(storage: $0, index: 0).canonicalBytes() } == root.canonicalBytes(),
            "spaces before a document change its values")
    }

    private func words(_ storage: JSONStorage) -> [UInt32] {
        (0..<storage.stride(at: 0)).map { storage.name(ofValueAt: $0 + 1).bits }
    }

    private func check(_ error: JSONError) {
        precondition(error.kind == .limitExceeded || error.offset != nil, "an error without a place")
        precondition(error.offset.map { (0...bytes.count).contains($0) } ?? true, "an error behind the document")
        precondition(error.description.utf8.count < 1200, "a long error")
    }

    /// Every value, without recursion.
    private func check(_ root: JSONValue) {
        var rest = [root]
        var seen = 0
        while let value = rest.popLast() {
            seen += 1
            switch value.kind {
            case .string: checkString(value)
            case .number: checkNumber(value)
            case .array: rest += value.elements
            case .object:
                checkLookups(value)
                rest += value.members.map(\.value)
            case .null, .boolean: precondition(value.isNull == (value.bool == nil), "a literal that is nothing")
            case .missing: preconditionFailure("a value that is not there")
            }
            precondition(value.byteRange.upperBound <= bytes.count && !value.rawBytes.isEmpty, "a value without bytes")
            if seen < 40 {
                precondition(value.description.utf8.count < 5000, "a long description")
                precondition(value["nothing"][3].exists == false, "a value from nowhere")
                _ = value.path
                _ = try? value.require([Int?].self)
            }
        }
    }

    private func checkString(_ value: JSONValue) {
        guard let string = value.string else { preconditionFailure("a string that cannot be read") }
        precondition(String(validating: Array(string.utf8), as: UTF8.self) != nil, "text that is not UTF-8")
        precondition(value.isString(string), "a string that is not itself")
        let again = try? JSONDocument(Array(value.rawBytes)).root.string
        precondition(again?.utf8.elementsEqual(string.utf8) == true, "a string that reads otherwise alone")
    }

    private func checkNumber(_ value: JSONValue) {
        let nearest = strtod(String(decoding: value.rawBytes, as: UTF8.self), nil)
        precondition(value.double?.bitPattern == (nearest.isFinite ? nearest.bitPattern : nil), "another double")
        if let int = value.int64 {
            precondition(value.double == Double(int), "another integer")
            precondition(int < 0 ? value.uint64 == nil : value.uint64 == UInt64(int), "another unsigned integer")
        }
        _ = value.decimal
        _ = try? value.require(Float.self)
    }

    private func checkLookups(_ object: JSONValue) {
        var first: [[UInt8]: Int] = [:]
        for member in object.members {
            let name = member.key
            precondition(member.hasKey(name), "a name that is not itself")
            let index = first[Array(name.utf8)] ?? member.value.index
            first[Array(name.utf8)] = index
            if first.count < 40 { precondition(object[name].index == index, "not the first member") }
        }
        checkNamesThatRunOn(object)
        precondition(object.members.count == object.count, "another number of members")
    }

    /// Bytes from the start of one member's name to the end of the next are found only where a member has them as its name.
    private func checkNamesThatRunOn(_ object: JSONValue) {
        var decoder = JSONDocumentDecoder()
        let members = Array(object.members.prefix(8))
        for (one, other) in zip(members, members.dropFirst()) {
            let start = one.keyByteRange.lowerBound + 1
            for end in [other.keyByteRange.lowerBound, other.keyByteRange.upperBound - 1] {
                let text = String(decoding: bytes[start..<end], as: UTF8.self)
                let hasMember = object.members.contains { $0.hasKey(text) }
                precondition(object[text].exists == hasMember, "a name that runs on into what follows is found")
                decoder.userInfo[NameProbe.key] = text
                let probe = try? decoder.decode(NameProbe.self, from: object)
                precondition(probe?.isFound == hasMember, "a decoder finds a name that runs on into what follows")
            }
        }
    }

    private func checkWriting(_ root: JSONValue) {
        for sortsKeys in [true, false] {
            let written = root.canonicalBytes(sortsKeys: sortsKeys)
            var wide = limits
            wide.maximumByteCount = .max
            let again = try? JSONDocument(written, limits: wide).root.canonicalBytes(sortsKeys: sortsKeys)
            precondition(again == written, "what was written reads otherwise")
        }
    }
}

/// Whether an object has a member of the name that `userInfo` says, as a decoder finds it.
private struct NameProbe: Decodable {
    static let key = CodingUserInfoKey(rawValue: "name").unsafelyUnwrapped
    let isFound: Bool

    init(from decoder: any Decoder) throws {
        let name = decoder.userInfo[Self.key] as? String ?? ""
        isFound = try decoder.container(keyedBy: JSONCodingKey.self).contains(.name(name))
    }
}
