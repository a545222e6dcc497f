// libFuzzer's target for the decoder. Foundation's encoder writes what was decoded.

import Foundation

/// Decodes bytes as several types; what decodes must encode, and decode again as the same.
@_cdecl("LLVMFuzzerTestOneInput")
public func decodeAnything(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    // One strategy an input, by its size, so that three times as many inputs are tried; blanks lead to the others.
    let decoder = decoders[size % decoders.count]
    check(Everything.self, bytes, decoder)
    check([Everything].self, bytes, decoder)
    check(Tree.self, bytes, decoder)
    check([String: [Double?]].self, bytes, decoder)
    check([[String]].self, bytes, decoder)
    check(Int8.self, bytes, decoder)
    check(ByHand.self, bytes, decoder)
    compare(Everything.self, bytes)
    compare(Tree.self, bytes)
    return 0
}

private let decoders: [JSONDocumentDecoder] = {
    var snake = JSONDocumentDecoder()
    snake.keyDecodingStrategy = .convertFromSnakeCase
    snake.dateDecodingStrategy = .iso8601
    var custom = JSONDocumentDecoder()
    custom.keyDecodingStrategy = .custom { $0.last ?? JSONCodingKey.name("") }
    custom.dateDecodingStrategy = .millisecondsSince1970
    custom.dataDecodingStrategy = .deferredToData
    custom.nonConformingFloatDecodingStrategy = readingNonConforming
    return [JSONDocumentDecoder(), snake, custom]
}()

private let readingNonConforming = JSONDecoder.NonConformingFloatDecodingStrategy.convertFromString(
    positiveInfinity: "+", negativeInfinity: "-", nan: "n")

private func check<T: Codable>(_ type: T.Type, _ bytes: [UInt8], _ decoder: JSONDocumentDecoder) {
    guard let value = try? decoder.decode(type, from: bytes) else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
        positiveInfinity: "+", negativeInfinity: "-", nan: "n")
    var plain = JSONDocumentDecoder()
    plain.nonConformingFloatDecodingStrategy = readingNonConforming
    do {
        let written = try encoder.encode(value)
        let again = try encoder.encode(plain.decode(type, from: Array(written)))
        precondition(again == written, "what was encoded decodes otherwise")
    } catch {
        preconditionFailure("what was decoded does not encode and decode: \(error)")
    }
}

/// Where Foundation's decoder reads the bytes too, it reads the same.
private func compare<T: Codable>(_ type: T.Type, _ bytes: [UInt8]) {
    guard let ours = try? JSONDocumentDecoder().decode(type, from: bytes),
        let theirs = try? JSONDecoder().decode(type, from: Data(bytes))
    else { return }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    precondition((try? encoder.encode(ours)) == (try? encoder.encode(theirs)), "Foundation decodes otherwise")
}

private struct Everything: Codable {
    struct Inner: Codable {
        var x: Int
        var longNameOfAMember: [String: Bool]?
    }
    var s: String?
    var i: Int?
    var i8: Int8?
    var u: UInt64?
    var d: Double?
    var f: Float?
    var b: Bool?
    var inner: Inner?
    var list: [Inner]?
    var names: [String]?
    var ints: [Int]?
    var doubles: [Double]?
    var matrix: [[Int?]]?
    var map: [String: Inner]?
    var date: Date?
    var data: Data?
    var url: URL?
    var m: Decimal?
}

private indirect enum Tree: Codable {
    case leaf
    case branch([Tree], right: Tree?)
}

/// Asks containers for what a synthesised `init(from:)` does not.
private struct ByHand: Codable {
    var text: String

    init(from decoder: any Decoder) throws {
        var text = "\(decoder.codingPath.count)"
        if let keyed = try? decoder.container(keyedBy: JSONCodingKey.self) {
            for key in keyed.allKeys {
                text += key.stringValue + (try keyed.decodeNil(forKey: key) ? "nil" : "")
                if var list = try? keyed.nestedUnkeyedContainer(forKey: key) {
                    while !list.isAtEnd {
                        if try list.decodeNil() { continue }
                        if let string = try? list.decode(String.self) {
                            text += string
                        } else {
                            text += "\(try list.superDecoder().codingPath.count)"
                        }
                    }
                }
                if let object = try? keyed.nestedContainer(keyedBy: JSONCodingKey.self, forKey: key) {
                    text += "\(try object.superDecoder().codingPath.count) \(object.allKeys.count)"
                }
            }
        }
        let single = try decoder.singleValueContainer()
        self.text = (try? single.decode(String.self)) ?? text
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
