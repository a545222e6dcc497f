/// Writes nodes as HTML, and collects the style sheet that they need.
struct HTMLWriter {
    let addresses: ViewAddresses
    private(set) var html = ""
    private var remaining: Int
    /// The length after which no further node is written: each row of a list may have as much text as a tree.
    private let byteLimit: Int
    /// The class of each declaration.
    private var classes: [String: String] = [:]
    private var rules: [String] = []
    private var keyFrames: Set<ViewAnimation> = []

    init(addresses: ViewAddresses, nodeLimit: Int, byteLimit: Int = 64 << 20) {
        (self.addresses, remaining, self.byteLimit) = (addresses, nodeLimit, byteLimit)
    }

    /// The rules of the nodes that are written so far: one class for each declaration.
    var styleSheet: String { rules.joined() }

    mutating func write(_ node: ViewNode) {
        guard remaining > 0 else { return }
        remaining = html.utf8.count < byteLimit ? remaining - 1 : 0
        let appearance = node.appearance
        switch appearance.kind {
        case .text:
            let name = appearance.heading > 0 ? "h\(appearance.heading)" : "div"
            open(name, "text", node, role: appearance.label.isEmpty ? nil : "img")
            html += Self.escaped(appearance.text)
            close(name)
        case .image:
            open("img", "image", node, [("alt", appearance.label)] + source(appearance.text), isLabelled: false)
        case .box:
            open("div", appearance.layout.rawValue, node, role: appearance.label.isEmpty ? nil : "group")
            for child in node.children { write(child) }
            close("div")
        case .list:
            open("div", "list", node, role: "list")
            for index in node.children.indices where remaining > 0 {
                html += #"<div class="item" role="listitem">"#
                write(node.children[index])
                close("div")
            }
            close("div")
        case .pager: writePager(node)
        case .input: writeInput(node)
        case .toggle:
            let checked = appearance.isOn ? [("checked", "")] : []
            open("input", "switch", node, [("type", "checkbox")] + checked, role: "switch")
        case .spacer:
            open("div", "spacer", node)
            close("div")
        case .slot:
            let parameters = String(decoding: appearance.parameters, as: UTF8.self)
            open("div", "slot", node, [("data-slot", appearance.name), ("data-parameters", parameters)])
            for child in node.children { write(child) }
            close("div")
        case .use: break
        }
    }

    private mutating func writePager(_ node: ViewNode) {
        // A region that scrolls can be focused, so that keys scroll it.
        open("div", "pager", node, [("tabindex", "0")], role: "group")
        let count = node.children.count
        for index in node.children.indices where remaining > 0 {
            html += #"<div class="page" role="group" aria-label="\#(index + 1)/\#(count)">"#
            write(node.children[index])
            close("div")
        }
        close("div")
    }

    private mutating func writeInput(_ node: ViewNode) {
        let appearance = node.appearance
        var attributes = [("type", appearance.mode.rawValue), ("value", appearance.text)]
        if !appearance.placeholder.isEmpty { attributes.append(("placeholder", appearance.placeholder)) }
        if appearance.label.isEmpty { attributes.append(("aria-label", appearance.placeholder)) }
        open("input", "input", node, attributes)
    }

    private func source(_ address: String) -> [(String, String)] {
        addresses.allows(address) ? [("src", address), ("loading", "lazy")] : []
    }

    /// Writes the start tag of an element.
    private mutating func open(
        _ name: String, _ kind: String, _ node: ViewNode, _ attributes: [(String, String)] = [], role: String? = nil,
        isLabelled: Bool = true
    ) {
        let appearance = node.appearance
        // A stated width does not shrink in a row, as in SwiftUI.
        let isFixed = node.value(.width) != nil && node.value(.width) != .keyword("fill")
        let names = (isFixed ? ["fixed"] : []) + appearance.settings.map { className(of: $0) }
        html += "<\(name) class=\"\(([kind] + names).joined(separator: " "))\""
        for (name, value) in attributes { add(name, value) }
        var role = role
        if let tap = appearance.events[.tap] {
            add("data-tap", tap.name)
            add("data-tap-detail", String(decoding: tap.detail, as: UTF8.self))
            if name != "input" {
                role = "button"
                add("tabindex", "0")
            }
        }
        if let change = appearance.events[.change] {
            add("data-change", change.name)
            add("data-change-detail", String(decoding: change.detail, as: UTF8.self))
        }
        if let role { add("role", role) }
        if isLabelled, !appearance.label.isEmpty { add("aria-label", appearance.label) }
        html += ">"
    }

    private mutating func close(_ name: String) { html += "</\(name)>" }

    private mutating func add(_ name: String, _ value: String) { html += " \(name)=\"\(Self.escaped(value))\"" }

    private mutating func className(of setting: Setting) -> String {
        let declaration = setting.declaration
        if let name = classes[declaration] { return name }
        let name = "a\(classes.count)"
        classes[declaration] = name
        rules.append(".\(name){\(declaration)}")
        if case .animation(let animation) = setting.value, keyFrames.insert(animation).inserted {
            rules.append(animation.keyFrames)
        }
        return name
    }

    /// Escapes text for the content of an element and for an attribute in quotation marks.
    static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
