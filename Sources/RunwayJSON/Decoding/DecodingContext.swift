#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// State that all decoders of one document share. It is used only in the task that decodes.
final class DecodingContext {
    let storage: JSONStorage
    let strategies: JSONDocumentDecoder
    /// Whether member names are used unchanged as coding keys.
    let usesDefaultKeys: Bool
    /// Caches converted names, since the objects of a list have the same names.
    private var convertedNames: [String: String] = [:]
    /// Caches the ``DecodingWay`` of each recently decoded type, at most 32, since looking up a type's conformances is
    /// slow.
    private var ways: [(type: ObjectIdentifier, way: DecodingWay)] = []

    /// Whether the value at which decoding began is below a member that is secret by ``JSONRedaction/default``; `nil`
    /// until it is computed.
    private var isRootSecret: Bool?

    init(storage: JSONStorage, strategies: JSONDocumentDecoder) {
        self.storage = storage
        self.strategies = strategies
        if case .useDefaultKeys = strategies.keyDecodingStrategy {
            usesDefaultKeys = true
        } else {
            usesDefaultKeys = false
        }
    }

    func key(for name: String, below decoder: ValueDecoder) -> String {
        // Apple's Foundation may add strategies, so a switch would not compile alike on all systems.
        if case .custom(let convert) = strategies.keyDecodingStrategy {
            return convert(decoder.codingPath + [JSONCodingKey.name(name)]).stringValue
        }
        guard case .convertFromSnakeCase = strategies.keyDecodingStrategy else { return name }
        if let converted = convertedNames[name] { return converted }
        let converted = SnakeCase.camelCase(fromSnakeCase: name)
        convertedNames[name] = converted
        return converted
    }

    /// Returns whether the value at which decoding began is below a member that is secret by ``JSONRedaction/default``.
    /// Computed once.
    func isSecret(root: JSONValue) -> Bool {
        if let isRootSecret { return isRootSecret }
        let isSecret = root.isSecret(by: .default)
        isRootSecret = isSecret
        return isSecret
    }

    func way<T: Decodable>(_ type: T.Type) -> DecodingWay {
        if type == String.self { return .string }
        if type == Int.self { return .int }
        if type == Double.self { return .double }
        let identifier = ObjectIdentifier(type)
        for known in ways where known.type == identifier { return known.way }
        let way = DecodingWay(type)
        if ways.count == 32 { ways.removeAll(keepingCapacity: true) }
        ways.append((identifier, way))
        return way
    }
}
