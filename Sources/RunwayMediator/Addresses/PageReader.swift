/// Decodes a page of one type from its name and its parameters.
///
/// The page that was read is written again, and both have to be equal: so `id=07`, `id=+7` and a parameter that the
/// coding ignores are refused.
func readPage<P: Page>(_ type: P.Type, named name: String, _ parameters: [Parameter]) throws(MediatorError) -> P {
    let reader = PageReader(page: name, parameters: parameters)
    if let page = try? P(from: reader) {
        let written = try WrittenPage(page)
        if written.page.isSpelled(name), written.isSame(as: parameters) { return page }
    }
    throw refusal(of: type, named: name, parameters)
}

/// Reads a page again that was refused, and returns the reason. Only here each name of a parameter is looked up.
private func refusal<P: Page>(of type: P.Type, named name: String, _ parameters: [Parameter]) -> MediatorError {
    let reader = PageReader(page: name, parameters: parameters, checksNames: true)
    let isRead = (try? P(from: reader)) != nil
    guard isRead || reader.hasPage else {
        return MediatorError(.notFound, "the module \(P.module) has no such page")
    }
    let reason = isRead ? "a parameter is repeated, or not written as the app writes it" : "a parameter is invalid"
    return MediatorError(.invalid, "\(P.module)/\(name): \(reader.failure ?? reason)")
}

/// Returns the reason for which no address of this path can be read, or `nil`: the page or a parameter does not exist.
func findProblem<P: Page>(_ type: P.Type, named name: String, parameters: [String]) -> String? {
    let reader = PageReader(
        page: name, parameters: parameters.map { Parameter(name: $0, value: "") }, checksNames: true)
    // Values are missing, so that the page is seldom read; only the names are looked up.
    let page = try? P(from: reader)
    if !reader.hasPage, page == nil { return "has no page \(name)" }
    return reader.unknown.map { "has no parameter \($0) of \(name)" }
}

/// The counterpart of `PageWriter`.
private final class PageReader: Decoder {
    let page: String
    let parameters: [Parameter]
    /// Whether a parameter that the case does not have is found here, and not by comparing what was read.
    private let checksNames: Bool
    /// Whether the type has a case of this name.
    var hasPage = false
    /// The first parameter that the case doesn't have.
    private(set) var unknown: String?
    /// The first reason for which the parameters can't be read.
    private(set) var failure: String?

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(page: String, parameters: [Parameter], checksNames: Bool = false) {
        self.page = page
        self.parameters = parameters
        self.checksNames = checksNames
    }

    struct Unreadable: Error {}

    func refuse(_ reason: @autoclosure () -> String) -> Unreadable {
        failure = failure ?? reason()
        return Unreadable()
    }

    func value(named name: String) -> String? { parameters.first { $0.name.isSpelled(name) }?.value }

    /// Throws if the address has a parameter that the case of the page does not have.
    func check<Key: CodingKey>(_ type: Key.Type) throws {
        guard checksNames else { return }
        for parameter in parameters
        where Key(stringValue: parameter.name)?.stringValue.isSpelled(parameter.name) != true {
            unknown = unknown ?? parameter.name
            throw refuse("there is no parameter \(parameter.name)")
        }
    }

    func read<Value: Decodable>(_ type: Value.Type, _ text: String, name: String) throws -> Value {
        if let text = text as? Value { return text }
        guard let readable = type as? any AddressValue.Type else {
            return try Value(from: ValueReader(reader: self, text: text, name: name))
        }
        guard let value = readable.init(addressText: text) as? Value else { throw refuse("\(name) is no \(type)") }
        return value
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedReader(reader: self, isPage: true))
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw refuse("a page is an enum") }
    func singleValueContainer() -> any SingleValueDecodingContainer {
        ValueReader(reader: self, text: page, name: "the page")
    }
}

private struct KeyedReader<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let reader: PageReader
    /// Whether the keys are names of pages; otherwise they are names of parameters.
    let isPage: Bool

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        guard isPage else { return reader.parameters.compactMap { Key(stringValue: $0.name) } }
        guard let key = Key(stringValue: reader.page), key.stringValue.isSpelled(reader.page) else { return [] }
        reader.hasPage = true
        return [key]
    }

    func contains(_ key: Key) -> Bool {
        isPage ? key.stringValue.isSpelled(reader.page) : reader.value(named: key.stringValue) != nil
    }

    func decodeNil(forKey key: Key) -> Bool { !contains(key) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if isPage { throw reader.refuse("a page is an enum, and its coding is synthesised") }
        let name = key.stringValue
        guard let text = reader.value(named: name) else {
            if let absent = type as? any AbsentValue.Type, let value = absent.init() as? Value { return value }
            throw reader.refuse("\(name) is absent")
        }
        return try reader.read(type, text, name: name)
    }

    // Most parameters have one of these types: without a function for them, each would be cast.
    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        guard let text = try decodeIfPresent(type, forKey: key) else {
            throw reader.refuse("\(key.stringValue) is absent")
        }
        return text
    }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        if isPage { throw reader.refuse("a page is an enum, and its coding is synthesised") }
        return reader.value(named: key.stringValue)
    }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        guard let number = Int(try decode(String.self, forKey: key)) else {
            throw reader.refuse("\(key.stringValue) is no Int")
        }
        return number
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        guard isPage else { throw reader.refuse("\(key.stringValue) is more than one value") }
        try reader.check(Nested.self)
        return KeyedDecodingContainer(KeyedReader<Nested>(reader: reader, isPage: false))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw reader.refuse("\(key.stringValue) is a list")
    }
    func superDecoder() throws -> any Decoder { throw reader.refuse("a parameter has a superclass") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}

/// Reads one value: that of a parameter, or the name of a page that is an enum of strings.
private struct ValueReader: Decoder, SingleValueDecodingContainer {
    let reader: PageReader
    let text: String
    let name: String

    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw reader.refuse("\(name) is more than one value")
    }
    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw reader.refuse("\(name) is a list") }
    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func decodeNil() -> Bool { false }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try reader.read(type, text, name: name) }
}

/// A parameter that no address has.
protocol AbsentValue {
    init()
}

extension Reply: AbsentValue {}
