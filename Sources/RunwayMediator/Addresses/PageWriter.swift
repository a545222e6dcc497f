/// A page as its address has it, without scheme and host.
struct WrittenPage: Sendable {
    let module: String
    var page = ""
    var parameters: [Parameter] = []

    /// Writes a page by its synthesised coding.
    ///
    /// - Throws: ``MediatorError/Kind/invalid`` if a parameter has no text.
    init<P: Page>(_ page: P) throws(MediatorError) {
        module = P.module
        let writer = PageWriter()
        writer.parameters.reserveCapacity(4)
        do { try page.encode(to: writer) } catch { writer.refuse("a parameter can't be written") }
        if let failure = writer.failure { throw MediatorError(.invalid, "\(P.module)/\(writer.page): \(failure)") }
        self.page = writer.page
        parameters = writer.parameters
    }

    /// Whether both are the same page with the same parameters, in any order.
    func isSame(as other: [Parameter]) -> Bool {
        parameters == other || parameters.count == other.count && parameters.allSatisfy(other.contains)
    }
}

/// Encodes a page: the key of the case is the name of the page, and the keys of its associated values name the
/// parameters.
private final class PageWriter: Encoder {
    var page = ""
    var parameters: [Parameter] = []
    /// The first reason for which the page has no address.
    private(set) var failure: String?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func refuse(_ reason: String) { failure = failure ?? reason }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(KeyedWriter(writer: self, level: .page))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { ListWriter(writer: self) }
    func singleValueContainer() -> any SingleValueEncodingContainer { ValueWriter(writer: self, name: nil) }

    /// Writes the value of a parameter. A type that encodes nothing, a `Reply`, is no parameter.
    func write<Value: Encodable>(_ value: Value, name: String) throws {
        if let value = value as? any AddressValue {
            if let text = value.addressText {
                parameters.append(Parameter(name: name, value: text))
            } else {
                refuse("\(name) is not a finite number")
            }
        } else {
            try value.encode(to: ValueWriter(writer: self, name: name))
        }
    }
}

private struct KeyedWriter<Key: CodingKey>: KeyedEncodingContainerProtocol {
    enum Level { case page, parameters, value }

    let writer: PageWriter
    let level: Level
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        if level == .parameters {
            try writer.write(value, name: key.stringValue)
        } else {
            writer.refuse("a page is an enum, and each of its parameters is one value")
        }
    }

    // Most parameters have one of these types: without a function for them, each would be cast.
    func encode(_ value: String, forKey key: Key) throws { append(value, key) }
    func encode(_ value: Int, forKey key: Key) throws { append(value.description, key) }

    private func append(_ text: String, _ key: Key) {
        if level == .parameters {
            writer.parameters.append(Parameter(name: key.stringValue, value: text))
        } else {
            writer.refuse("a page is an enum, and each of its parameters is one value")
        }
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        if level == .page {
            writer.page = key.stringValue
            return KeyedEncodingContainer(KeyedWriter<Nested>(writer: writer, level: .parameters))
        }
        writer.refuse("\(key.stringValue) is more than one value")
        return KeyedEncodingContainer(KeyedWriter<Nested>(writer: writer, level: .value))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { ListWriter(writer: writer) }
    func superEncoder() -> any Encoder {
        writer.refuse("a parameter has a superclass")
        return ValueWriter(writer: writer, name: "super")
    }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder() }
}

/// Writes one value: that of a parameter, or the name of the page if the page is an enum of strings.
private struct ValueWriter: Encoder, SingleValueEncodingContainer {
    let writer: PageWriter
    /// `nil` for the name of the page.
    let name: String?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        writer.refuse("\(name ?? "the page") is more than one value")
        return KeyedEncodingContainer(KeyedWriter(writer: writer, level: .value))
    }
    func unkeyedContainer() -> any UnkeyedEncodingContainer { ListWriter(writer: writer) }
    func singleValueContainer() -> any SingleValueEncodingContainer { self }

    func encodeNil() throws {}

    func encode<Value: Encodable>(_ value: Value) throws {
        if let name {
            try writer.write(value, name: name)
        } else if let text = value as? String {
            writer.page = text
        } else {
            writer.refuse("a page is an enum")
        }
    }
}

/// Refuses a list: an address has no repeated parameters.
private struct ListWriter: UnkeyedEncodingContainer {
    let writer: PageWriter
    var codingPath: [any CodingKey] { [] }
    let count = 0

    init(writer: PageWriter) {
        self.writer = writer
        writer.refuse("a parameter is a list")
    }

    func encodeNil() throws {}
    func encode<Value: Encodable>(_ value: Value) throws {}
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(KeyedWriter(writer: writer, level: .value))
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { ValueWriter(writer: writer, name: "super") }
}
