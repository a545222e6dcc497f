/// The elements of an array, one after another.
struct UnkeyedValueContainer: UnkeyedDecodingContainer {
    private let decoder: ValueDecoder
    private var elements: JSONElements.Iterator
    /// The element that comes next; it stays when decoding it fails.
    private var next: JSONValue?
    private(set) var currentIndex = 0

    init(decoder: ValueDecoder) {
        self.decoder = decoder
        elements = decoder.value.elements.makeIterator()
        next = elements.next()
    }

    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { decoder.value.count }
    var isAtEnd: Bool { next == nil }

    private var key: JSONCodingKey { JSONCodingKey(index: currentIndex) }

    private func peek(_ type: Any.Type) throws -> JSONValue {
        if let next { return next }
        throw DecodingError.valueNotFound(
            type,
            DecodingError.Context(codingPath: codingPath + [key], debugDescription: "Unkeyed container is at end."))
    }

    private mutating func advance() {
        next = elements.next()
        currentIndex += 1
    }

    private mutating func read<T>(_ read: (JSONValue, (any CodingKey)?) throws -> T) throws -> T {
        let value = try read(try peek(T.self), key)
        advance()
        return value
    }

    mutating func decodeNil() throws -> Bool {
        guard try peek(Never.self).isNull else { return false }
        advance()
        return true
    }

    mutating func decode(_ type: Bool.Type) throws -> Bool { try read(decoder.bool) }
    mutating func decode(_ type: String.Type) throws -> String { try read(decoder.string) }
    mutating func decode(_ type: Double.Type) throws -> Double { try read(decoder.double) }
    mutating func decode(_ type: Float.Type) throws -> Float { try read(decoder.float) }
    mutating func decode(_ type: Int.Type) throws -> Int { try read(decoder.integer) }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try read(decoder.integer) }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try read(decoder.integer) }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try read(decoder.integer) }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try read(decoder.integer) }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try read(decoder.integer) }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try read(decoder.integer) }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try read(decoder.integer) }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try read(decoder.integer) }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try read(decoder.integer) }

    mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
        let value = try decoder.unwrap(type, try peek(type), key)
        advance()
        return value
    }

    private mutating func nested(_ type: Any.Type) throws -> ValueDecoder {
        let node = CodingPathNode(parent: decoder.path, key: key)
        return ValueDecoder(value: try peek(type), context: decoder.context, path: node)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        let container = try nested(KeyedDecodingContainer<NestedKey>.self).container(keyedBy: type)
        advance()
        return container
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        let container = try nested((any UnkeyedDecodingContainer).self).unkeyedContainer()
        advance()
        return container
    }

    mutating func superDecoder() throws -> any Decoder {
        let decoder = try nested((any Decoder).self)
        advance()
        return decoder
    }
}
