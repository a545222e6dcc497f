import Foundation
import Testing

@testable import RunwayJSON

/// Our reader against Foundation's on generated documents, valid and mutated.
///
/// 100,000 documents are compared unless `RUNWAY_JSON_DOCUMENTS` says another number; `RUNWAY_JSON_SEED` sets the first
/// seed. Document `n` comes from the first seed plus `n`, so that one found here can be made again alone.
@Suite struct DifferentialTests {
    static let documentCount = Int(ProcessInfo.processInfo.environment["RUNWAY_JSON_DOCUMENTS"] ?? "") ?? 100_000
    static let firstSeed = UInt64(ProcessInfo.processInfo.environment["RUNWAY_JSON_SEED"] ?? "") ?? 20_261_121
    static let shards = 4

    @Test(.serialized, arguments: 0..<shards)
    func documentsReadAsInFoundation(_ shard: Int) async {
        var failures = 0
        for number in stride(from: shard, to: Self.documentCount, by: Self.shards) where failures < 10 {
            // Other tests wait for the same few threads, some of them not for long.
            await Task.yield()
            let seed = Self.firstSeed &+ UInt64(number)
            var generator = DocumentGenerator(seed: seed)
            let document = generator.document()
            // Every fourth document stays as it was made, valid.
            let bytes = number % 4 == 0 ? document : generator.mutated(document)
            if let difference = difference(bytes, isValid: number % 4 == 0) {
                failures += 1
                Issue.record("seed \(seed): \(difference)\n\(String(decoding: bytes, as: UTF8.self))")
            }
        }
    }

    /// What differs between the two readers, or nil.
    private func difference(_ bytes: [UInt8], isValid: Bool) -> String? {
        let ours = Result { () throws(JSONError) in try JSONDocument(bytes) }
        let check = GrammarCheck.error(in: bytes, limits: .default)
        let theirs = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        switch ours {
        case .failure(let error):
            if isValid { return "a valid document was refused: \(error)" }
            if check == nil { return "the index refuses what the grammar check accepts" }
            if error.offset == nil { return "the error has no place" }
            if theirs != nil, !Self.foundationIsLenient(bytes, error) { return "refused here only: \(error)" }
        case .success(let document):
            if let check { return "the index accepts what the grammar check refuses: \(check)" }
            guard let theirs else { return Self.foundationIsStrict(document.root) ? nil : "accepted here only" }
            return Comparison(bytes: bytes).difference(document.root, theirs)
        }
        return nil
    }

    /// Foundation reads UTF-16 and UTF-32 as well, which it knows by zero bytes; RFC 8259 §8.1 demands UTF-8. And it lets
    /// arrays and objects end after a comma; by §5 a value follows every comma, by §4 a member.
    private static func foundationIsLenient(_ bytes: [UInt8], _ error: JSONError) -> Bool {
        bytes.prefix(4).contains(0) || (error.expected == "a value" && error.found == "']'")
            || (error.expected == "a member's name in quotation marks" && error.found == "'}'")
    }

    /// Foundation refuses two things that the grammar of RFC 8259 allows: numbers beyond what a double holds, above or below
    /// (§6 lets a reader limit range, ours is limited where a number is read), and lone surrogates (§8.2), which are U+FFFD
    /// here.
    private static func foundationIsStrict(_ value: JSONValue) -> Bool {
        switch value.kind {
        case .number: value.double == nil || value.double?.isSubnormal == true || isTooSmall(value)
        case .string: value.string?.unicodeScalars.contains("\u{FFFD}") == true
        case .array: value.elements.contains(where: foundationIsStrict)
        case .object:
            value.members.contains { $0.key.unicodeScalars.contains("\u{FFFD}") || foundationIsStrict($0.value) }
        default: false
        }
    }
}

/// Whether a number that is not zero is zero as a double.
private func isTooSmall(_ number: JSONValue) -> Bool {
    let digits = number.rawBytes.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    return number.double == 0 && digits.contains { (UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
}

/// Compares a value with what Foundation made of it.
private struct Comparison {
    let bytes: [UInt8]

    func difference(_ value: JSONValue, _ other: Any) -> String? {
        switch (value.kind, other) {
        case (.null, is NSNull): return nil
        case (.string, let other as String):
            return value.string?.utf8.elementsEqual(other.utf8) == true ? nil : "another string at \(value.path)"
        case (.boolean, let other as Bool): return value.bool == other ? nil : "another boolean at \(value.path)"
        case (.number, let other as NSNumber): return number(value, other)
        case (.array, let other as [Any]):
            if value.count != other.count { return "another count at \(value.path)" }
            for (one, another) in zip(value.elements, other) {
                if let difference = difference(one, another) { return difference }
            }
            return nil
        case (.object, let other as [String: Any]): return object(value, other)
        default: return "another kind at \(value.path)"
        }
    }

    private func number(_ value: JSONValue, _ other: NSNumber) -> String? {
        if let integer = value.int64, value.isInteger {
            return integer == other.int64Value ? nil : "another integer at \(value.path)"
        }
        if let integer = value.uint64, value.isInteger {
            return integer == other.uint64Value ? nil : "another integer at \(value.path)"
        }
        guard let double = value.double else { return "no double at \(value.path)" }
        // Foundation stores some numbers as decimals, which `doubleValue` may round twice; the C library rounds once.
        let nearest = strtod(String(decoding: value.rawBytes, as: UTF8.self), nil)
        return double.bitPattern == nearest.bitPattern ? nil : "another double at \(value.path)"
    }

    /// Of members with equal names Foundation uses the last one and compares by equivalence, so that only names that
    /// are unique in that sense are compared.
    private func object(_ value: JSONValue, _ other: [String: Any]) -> String? {
        let names = Dictionary(grouping: value.members, by: \.key)
        if names.count != other.count { return "other names at \(value.path)" }
        for (name, members) in names where members.count == 1 {
            guard let another = other[name] else { return "no \(name) at \(value.path)" }
            if let difference = difference(value[members[0].key], another) { return difference }
        }
        return nil
    }
}
