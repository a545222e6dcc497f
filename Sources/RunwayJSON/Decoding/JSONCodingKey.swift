/// A coding key for a name or an index, used where a type has no key of its own. The text of an index is created on
/// access.
enum JSONCodingKey: CodingKey {
    case name(String)
    case index(Int)
    case integer(Int)

    static let `super` = JSONCodingKey.name("super")

    init?(stringValue: String) { self = .name(stringValue) }
    init?(intValue: Int) { self = .integer(intValue) }

    var stringValue: String {
        switch self {
        case .name(let name): name
        case .index(let index): "Index \(index)"
        case .integer(let value): "\(value)"
        }
    }

    var intValue: Int? {
        switch self {
        case .name: nil
        case .index(let value), .integer(let value): value
        }
    }
}
