#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

enum DecodingWay {
    /// Types that are read without a container. The coding key of such a value is needed only for errors.
    case string, int, double, bool, strings, ints, doubles
    case date, data, url, decimal
    /// An array, or a dictionary with string keys. Both are decoded without a container.
    case collection(any DirectlyDecoded.Type)
    /// The type decodes itself with its own `init(from:)`.
    case itself

    init<T: Decodable>(_ type: T.Type) {
        if type == String.self {
            self = .string
        } else if type == Int.self {
            self = .int
        } else if type == Double.self {
            self = .double
        } else if type == Bool.self {
            self = .bool
        } else if type == Date.self {
            self = .date
        } else if type == Data.self {
            self = .data
        } else if type == URL.self {
            self = .url
        } else if type == Decimal.self {
            self = .decimal
        } else if type == [String].self {
            self = .strings
        } else if type == [Int].self {
            self = .ints
        } else if type == [Double].self {
            self = .doubles
        } else if let collection = type as? any DirectlyDecoded.Type {
            self = .collection(collection)
        } else {
            self = .itself
        }
    }
}

/// A type whose values are decoded directly from the document's index, without a `Decoder`. The values equal those of
/// its `init(from:)`.
protocol DirectlyDecoded {
    static func decode<T>(from decoder: ValueDecoder, as type: T.Type) throws -> T
}

extension Array {
    /// The maximum number of elements for which memory is reserved before the first one is read: as many as fit in 64
    /// KiB. The limit bounds the memory that a document can claim, since an element of two bytes may decode to a type
    /// of hundreds of bytes.
    static var largestReserve: Int { (64 << 10) / MemoryLayout<Element>.stride }
}

extension Array: DirectlyDecoded where Element: Decodable {
    static func decode<T>(from decoder: ValueDecoder, as type: T.Type) throws -> T {
        let count = try decoder.elementContainer().count ?? 0
        var array: [Element] = []
        array.reserveCapacity(Swift.min(count, Self.largestReserve))
        let way = decoder.context.way(Element.self)
        var index = decoder.index + IndexEntry.wordCount
        while array.count < count {
            array.append(try decoder.unwrap(Element.self, way, at: index, by: JSONCodingKey.index(array.count)))
            index += decoder.storage.stride(at: index)
        }
        return sameType(array, as: type)
    }
}

/// The keys of a dictionary are data: no key strategy changes them. If a key occurs twice, its first value counts.
extension Dictionary: DirectlyDecoded where Key == String, Value: Decodable {
    static func decode<T>(from decoder: ValueDecoder, as type: T.Type) throws -> T {
        try decoder.requireObject()
        let way = decoder.context.way(Value.self)
        var dictionary: [String: Value] = [:]
        for member in decoder.value.members {
            let key = member.key
            if dictionary[key] != nil { continue }
            dictionary[key] = try decoder.unwrap(Value.self, way, at: member.value.index, by: JSONCodingKey.name(key))
        }
        return sameType(dictionary, as: type)
    }
}
