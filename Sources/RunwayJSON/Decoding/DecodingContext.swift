/// What the decoders of one document share while it is decoded.
///
/// It is a class so that what was found out outlives a container's method; it stays inside the one task that decodes.
final class DecodingContext {
    let strategies: JSONDocumentDecoder
    /// Converted names, since the objects of a list have the same ones.
    private var convertedNames: [String: String] = [:]

    init(strategies: JSONDocumentDecoder) { self.strategies = strategies }

    /// A member's name as a coding key's string.
    func key(for name: String, in path: CodingPathNode?) -> String {
        switch strategies.keyDecodingStrategy {
        case .useDefaultKeys: return name
        case .custom(let convert): return convert(CodingPathNode.path(path) + [JSONCodingKey(name)]).stringValue
        case .convertFromSnakeCase:
            if let converted = convertedNames[name] { return converted }
            let converted = SnakeCase.camelCase(fromSnakeCase: name)
            convertedNames[name] = converted
            return converted
        }
    }
}

/// The keys from the root to a value, the last one first.
final class CodingPathNode {
    let parent: CodingPathNode?
    let key: any CodingKey

    init(parent: CodingPathNode?, key: any CodingKey) {
        self.parent = parent
        self.key = key
    }

    static func path(_ node: CodingPathNode?) -> [any CodingKey] {
        var keys: [any CodingKey] = []
        var node = node
        while let current = node {
            keys.append(current.key)
            node = current.parent
        }
        return keys.reversed()
    }
}

/// A key made from a name or an index where no type's own key is at hand.
struct JSONCodingKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    static let `super` = JSONCodingKey("super")

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init(index: Int) {
        stringValue = "Index \(index)"
        intValue = index
    }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}
