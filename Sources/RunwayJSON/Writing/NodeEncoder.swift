#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The `Encoder` of one value.
struct NodeEncoder: Encoder {
    let node: EncodedNode
    let strategies: JSONDocumentEncoder
    let path: CodingPathNode?

    var codingPath: [any CodingKey] { CodingPathNode.path(path) }
    var userInfo: [CodingUserInfoKey: Any] { strategies.userInfo }

    func below(_ key: any CodingKey, _ node: EncodedNode) -> NodeEncoder {
        NodeEncoder(node: node, strategies: strategies, path: CodingPathNode(parent: path, key: key))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object = node.content {} else { node.content = .object(EncodedNode.Members()) }
        return KeyedEncodingContainer(KeyedNodeContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = node.content {} else { node.content = .array([]) }
        return UnkeyedNodeContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { SingleNodeContainer(encoder: self) }

    func name(of key: any CodingKey) -> String {
        switch strategies.keyEncodingStrategy {
        case .useDefaultKeys: key.stringValue
        case .convertToSnakeCase: SnakeCase.snakeCase(fromCamelCase: key.stringValue)
        case .custom(let convert): convert(codingPath + [key]).stringValue
        }
    }

    /// Encodes any type into the node, the ones that strategies are about by these.
    func encode<T: Encodable>(_ value: T) throws {
        switch value {
        case let date as Date: try encode(date: date)
        case let data as Data: try encode(data: data)
        case let url as URL: node.content = .string(url.absoluteString)
        case let decimal as Decimal: try encode(decimal: decimal)
        case let collection as any UnorderedCollection: try collection.encodeInOrder(to: self)
        default: try value.encode(to: self)
        }
    }

    func encode(integer value: some BinaryInteger) { node.content = .literal(String(value)) }

    func encode<T: BinaryFloatingPoint & LosslessStringConvertible>(float value: T) throws {
        if value.isFinite {
            let text = "\(value)"
            node.content = .literal(text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
            return
        }
        guard
            case .convertToString(let positive, let negative, let nan) = strategies.nonConformingFloatEncodingStrategy
        else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: codingPath,
                    debugDescription: "Unable to encode \(T.self).\(value) directly in JSON."))
        }
        node.content = .string(value.isNaN ? nan : value.sign == .plus ? positive : negative)
    }

    private func encode(decimal: Decimal) throws {
        guard !decimal.isNaN else {
            throw EncodingError.invalidValue(
                decimal,
                EncodingError.Context(
                    codingPath: codingPath, debugDescription: "Unable to encode Decimal.nan directly in JSON."))
        }
        node.content = .literal(decimal.description)
    }

    private func encode(date: Date) throws {
        switch strategies.dateEncodingStrategy {
        case .deferredToDate: try date.encode(to: self)
        case .secondsSince1970: try encode(float: date.timeIntervalSince1970)
        case .millisecondsSince1970: try encode(float: 1000 * date.timeIntervalSince1970)
        case .iso8601: node.content = .string(Date.ISO8601FormatStyle().format(date))
        case .formatted(let format): node.content = .string(format(date))
        case .custom(let encode): try encode(date, self)
        }
    }

    private func encode(data: Data) throws {
        switch strategies.dataEncodingStrategy {
        case .deferredToData: try data.encode(to: self)
        case .base64: node.content = .string(data.base64EncodedString())
        case .custom(let encode): try encode(data, self)
        }
    }
}
