struct UnkeyedValueContainer: UnkeyedDecodingContainer {
    private let decoder: ValueDecoder
    /// The index of the next element. It does not change if decoding that element fails.
    private var next: Int
    private(set) var currentIndex = 0

    init(decoder: ValueDecoder) {
        self.decoder = decoder
        next = decoder.index + IndexEntry.wordCount
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { decoder.storage.count(at: decoder.index) }
    var isAtEnd: Bool { currentIndex >= decoder.storage.count(at: decoder.index) }

    private func element(_ type: Any.Type) throws -> ValueDecoder {
        let element = decoder.below(JSONCodingKey.index(currentIndex), at: next)
        if !isAtEnd { return element }
        throw DecodingError.valueNotFound(type, element.context("Unkeyed container is at end."))
    }

    private mutating func advance() {
        next += decoder.storage.stride(at: next)
        currentIndex += 1
    }

    private mutating func read<T>(_ read: (ValueDecoder) throws -> T) throws -> T {
        let value = try read(try element(T.self))
        advance()
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try element(Never.self).kind == .null else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try read { try $0.bool() } }
    mutating func decode(_ type: String.Type) throws -> String { try read { try $0.string() } }
    mutating func decode(_ type: Double.Type) throws -> Double { try read { try $0.double() } }
    mutating func decode(_ type: Float.Type) throws -> Float { try read { try $0.float() } }
    mutating func decode(_ type: Int.Type) throws -> Int { try read { try $0.integer() } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try read { try $0.integer() } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try read { try $0.integer() } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try read { try $0.integer() } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try read { try $0.integer() } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try read { try $0.integer() } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try read { try $0.integer() } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try read { try $0.integer() } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try read { try $0.integer() } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try read { try $0.integer() } }
    mutating func decode(_ type: Int128.Type) throws -> Int128 { try read { try $0.integer() } }
    mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try read { try $0.integer() } }
    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T { try read { try $0.unwrap(type) } }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try read { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try read { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try read { $0 as any Decoder } }
}
