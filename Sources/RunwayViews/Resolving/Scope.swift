import RunwayJSON

/// A value that a path leads to.
enum Datum: Sendable {
    case json(JSONValue)
    case text(String)

    /// Whether a condition with the value holds. Absent and empty values, `null`, `false` and 0 do not.
    var isTrue: Bool {
        switch self {
        case .text(let text): !text.isEmpty
        case .json(let value):
            switch value.kind {
            case .missing, .null: false
            case .boolean: value.bool == true
            case .number: value.double != 0
            case .string: !value.isString("")
            case .array, .object: value.count > 0
            }
        }
    }

    /// The value as text: a string, a number as it is written, `true` or `false`; empty for every other kind.
    var text: String {
        switch self {
        case .text(let text): text
        case .json(let value):
            switch value.kind {
            case .string: value.string ?? ""
            case .number, .boolean: String(decoding: value.rawBytes, as: UTF8.self)
            case .missing, .null, .array, .object: ""
            }
        }
    }

    /// The elements of an array; `nil` for every other kind.
    var elements: JSONElements? { if case .json(let value) = self { value.elements } else { nil } }

    /// The text of a string; `nil` for every other kind.
    var string: String? {
        switch self {
        case .text(let text): text
        case .json(let value): value.string
        }
    }

    /// The number; `nil` for every other kind.
    var number: Double? { if case .json(let value) = self { value.double } else { nil } }

    /// The value as JSON text. A missing value is `null`.
    var json: ArraySlice<UInt8> {
        switch self {
        case .json(let value): return value.exists ? value.rawBytes : ArraySlice("null".utf8)
        case .text(let text):
            var writer = JSONWriter()
            writer.string(text)
            return writer.bytes[...]
        }
    }

    /// Whether both are written alike.
    func isSame(as other: Datum) -> Bool {
        switch (self, other) {
        case (.text(let one), .text(let two)): one == two
        case (.json(let one), .json(let two)): one.kind == two.kind && one.rawBytes == two.rawBytes
        case (.text, .json), (.json, .text): false
        }
    }
}

/// The values that paths can lead into, at one place of a tree.
struct Scope: Sendable {
    let data: JSONValue
    var parameters: [Datum] = []
    var items: [JSONValue] = []

    func value(of reference: Reference) -> Datum {
        var value: JSONValue
        switch reference.base {
        case .data: value = data
        case .item(let depth): value = items[depth]
        case .parameter(let number):
            switch parameters[number] {
            case .json(let json): value = json
            case .text(let text): return reference.steps.isEmpty ? .text(text) : .text("")
            }
        }
        for step in reference.steps {
            value = if value.kind == .array, let index = Int(step) { value[index] } else { value[step] }
        }
        return .json(value)
    }

    /// Returns a value. A text with paths ends at most 4 bytes beyond `limit`, so that a few bytes of a document can't
    /// become many; a text that is too long stays longer than `limit`.
    func value(of template: Template, upTo limit: Int) -> Datum {
        switch template {
        case .text(let text): return .text(text)
        case .json(let value): return .json(value)
        case .reference(let reference): return value(of: reference)
        case .pieces(let pieces):
            var text = ""
            for piece in pieces {
                let room = limit - text.utf8.count
                guard room >= 0 else { break }
                switch piece {
                case .text(let part): text += Resolver.prefix(part, room + 4)
                case .reference(let reference): text += Resolver.prefix(value(of: reference).text, room + 4)
                }
            }
            return .text(text)
        }
    }

    /// Whether some paths lead to the same values in another scope.
    func isSame(as other: Scope, for references: [Reference]) -> Bool {
        references.allSatisfy { value(of: $0).isSame(as: other.value(of: $0)) }
    }
}
