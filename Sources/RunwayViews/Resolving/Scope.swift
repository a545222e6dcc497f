import RunwayJSON

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

    /// Whether some paths lead to the same values in another scope.
    func isSame(as other: Scope, for references: [Reference]) -> Bool {
        references.allSatisfy { value(of: $0).isSame(as: other.value(of: $0)) }
    }
}
