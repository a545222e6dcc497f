import RunwayTesting

/// Random JSON values, of which parts can be changed.
indirect enum RandomValue {
    case text(String)
    case array([RandomValue])
    case object([(name: String, value: RandomValue)])

    /// The value as JSON text. The text of a leaf is JSON already.
    var json: String {
        switch self {
        case .text(let text): text
        case .array(let elements): "[\(elements.map(\.json).joined(separator: ","))]"
        case .object(let members): "{\(members.map { #""\#($0.name)":\#($0.value.json)"# }.joined(separator: ","))}"
        }
    }
}

/// Makes random documents and data. Most are valid; all are JSON.
struct Generator {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    private static let names = ["a", "b", "c", "d", "id"]
    static let leaves = [
        "1", "0", "-2.5", "true", "false", "null", #""""#, #""x""#, ##""#f00""##, #""center""#, #""<b>&\"'""#,
        #""javascript:alert(1)""#, #""https://a.example/b.png""#, #""\u0000é""#, "12345678901234567890", #""{a}""#,
    ]

    mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    mutating func happens(_ one: Int, in all: Int) -> Bool { number(0..<all) < one }
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[number(0..<elements.count)] }

    // MARK: Data

    mutating func value(depth: Int = 0) -> RandomValue {
        switch number(0..<(depth < 4 ? 6 : 2)) {
        case 0, 1: .text(pick(Self.leaves))
        case 2, 3, 4: .array((0..<number(0..<4)).map { _ in value(depth: depth + 1) })
        default: object(depth: depth)
        }
    }

    mutating func object(depth: Int = 0) -> RandomValue {
        .object(Self.names.map { ($0, $0 == "id" ? .text("\(number(0..<8))") : value(depth: depth + 1)) })
    }

    /// Changes one part: replaces it, or moves, adds or removes elements of an array.
    mutating func changed(_ value: RandomValue) -> RandomValue {
        switch value {
        case .text: return self.value(depth: 3)
        case .array(var elements):
            switch number(0..<5) {
            case 0: elements.shuffle(using: &random)
            case 1: elements.insert(self.value(depth: 2), at: number(0..<(elements.count + 1)))
            case 2 where !elements.isEmpty: elements.remove(at: number(0..<elements.count))
            default:
                guard !elements.isEmpty else { break }
                let index = number(0..<elements.count)
                elements[index] = changed(elements[index])
            }
            return .array(elements)
        case .object(var members):
            let index = number(0..<members.count)
            members[index].value = changed(members[index].value)
            return .object(members)
        }
    }

    // MARK: Documents

    mutating func document() -> String {
        let templates = (0..<3).map { #""t\#($0)":\#(node(depth: 1, template: $0 + 1))"# }
        return #"{"view":\#(node(depth: 0, template: 0)),"templates":{\#(templates.joined(separator: ","))}}"#
    }

    private mutating func path() -> String {
        let steps = (0..<number(1..<3)).map { _ in pick(["a", "b", "c", "d", "id", "item", "i", "0", "1"]) }
        return "{\(steps.joined(separator: "."))}"
    }

    private mutating func text() -> String {
        pick([path(), "\(path()) and \(path())", "plain", "<i>\(path())</i>", "{{", "{bad path}"])
    }

    private mutating func quoted(_ text: String) -> String { "\"\(text)\"" }

    /// - Parameter template: The first template that the node may use.
    private mutating func node(depth: Int, template: Int) -> String {
        var kinds = ["text", "image", "input", "switch", "spacer", "chart"]
        if depth < 4 { kinds += ["box", "box", "box", "list", "pager", "slot"] }
        if template < 3 { kinds += ["use", "use"] }
        let kind = depth == 0 ? "box" : pick(kinds)
        var members = [#""node":"\#(kind)""#]
        if happens(1, in: 4) { members.append(#""if":"\#(happens(1, in: 3) ? "!" : "")\#(path())""#) }
        if happens(1, in: 4) {
            members.append(#""each":"\#(path())""#)
            if happens(1, in: 2) { members.append(#""as":"i""#) }
            if happens(2, in: 3) { members.append(#""key":"\#(pick(["{item.id}", "{i.id}", "{item}", path()]))""#) }
        }
        if depth < 5, happens(1, in: 4) { members.append(#""else":\#(node(depth: depth + 1, template: template))"#) }
        switch kind {
        case "text": members.append(#""text":\#(quoted(text()))"#)
        case "image": members.append(#""source":\#(quoted(text()))"#)
        case "input", "switch": members.append(#""value":\#(quoted(text())),"on":{"change":"changed"}"#)
        case "box", "list", "pager":
            if kind == "box" { members.append(#""layout":"\#(pick(["row", "column", "overlay", "wrap", "grid"]))""#) }
            let children = (0..<number(1..<5)).map { _ in node(depth: depth + 1, template: template) }
            members.append(#""children":[\#(children.joined(separator: ","))]"#)
        case "use":
            let arguments = ["a", "b", "c", "id"].map {
                #""\#($0)":\#(happens(1, in: 3) ? pick(Self.leaves.dropLast()) : quoted(path()))"#
            }
            members.append(#""template":"t\#(number(template..<3))","with":{\#(arguments.joined(separator: ","))}"#)
        case "slot": members.append(#""name":"s","with":{"p":\#(quoted(path()))}"#)
        default: break
        }
        if happens(1, in: 3) { members.append(#""label":\#(quoted(text()))"#) }
        if happens(1, in: 4) { members.append(#""on":{"tap":{"name":"tap","detail":\#(quoted(path()))}}"#) }
        for name in ["opacity", "color", "align", "width", "lines", "colour"] where happens(1, in: 5) {
            members.append(#""\#(name)":\#(happens(1, in: 2) ? quoted(path()) : pick(Self.leaves.dropLast()))"#)
        }
        return "{\(members.joined(separator: ","))}"
    }
}
