import RunwayJSON
import Testing

@testable import RunwayViews

/// Texts that would be markup, style or code, in every member and every attribute of every node.
struct InjectionTests {
    private static let texts = [
        #""><script>alert(1)</script>"#, #"' onerror='alert(1)"#, "</style><script>", "</main></body>",
        "javascript:alert(1)", "data:text/html,<script>alert(1)</script>", "//evil.example/a.png",
        "red;}body{display:none", "{{", "&lt;", "-->", "\u{0}", "]]>", "expression(alert(1))",
        "url(https://evil.example)",
    ]

    /// All that a document can say of a node, made from the tables, with a text wherever one can stand.
    private static func node(_ kind: NodeKind, _ text: String) -> String {
        let members = NodeMember.allCases.filter { $0.isMember(of: kind) }.map { member in
            let value =
                switch member {
                case .node: #""\#(kind.rawValue)""#
                case .each: #""{list}""#
                case .as: #""item""#
                case .if, .key, .label, .layout, .text, .heading, .source, .value, .placeholder, .mode, .name: text
                case .else: #"{"node":"text","text":\#(text)}"#
                case .on: "{\(Gesture.allCases.map { event($0, text) }.joined(separator: ","))}"
                case .children: #"[{"node":"text","text":\#(text)}]"#
                case .template: #""t""#
                case .with: #"{"p":\#(text),"list":"{list}",\#(text):\#(text)}"#
                }
            return #""\#(member.rawValue)":\#(value)"#
        }
        let attributes = Attribute.allCases.map { #""\#($0.rawValue)":\#(text)"# }
        return "{\((members + attributes).joined(separator: ","))}"
    }

    private static func event(_ gesture: Gesture, _ text: String) -> String {
        #""\#(gesture.rawValue)":{"name":\#(text),"detail":\#(text)}"#
    }

    private static func document(_ text: String) throws -> ViewDocument {
        let nodes = NodeKind.allCases.map { node($0, text) }.joined(separator: ",")
        let template = NodeKind.allCases.filter { $0 != .use }.map { node($0, #""{p}""#) }.joined(separator: ",")
        let templates = #"{"t":{"node":"box","children":[\#(template)]}}"#
        return try view(#"{"view":{"node":"box","children":[\#(nodes)]},"templates":\#(templates)}"#)
    }

    private static func json(_ text: String) -> String { String(decoding: Datum.text(text).json, as: UTF8.self) }

    /// A page with a text from data, and one with the text in the document.
    private static func pages(_ text: String) throws -> [String] {
        let page = ViewPage(title: text, language: text)
        let filled = try document(#""{x}""#).tree(of: data(#"{"list":[1],"x":\#(json(text))}"#))
        let written = try document(json(text.replacing("{", with: "{{"))).tree(of: data(#"{"list":[1]}"#))
        return [filled.html(page), written.html(page)]
    }

    @Test(arguments: texts) func textsNeverBecomeMarkup(text: String) throws {
        // The same tags in the same order, the same style, and nothing between that opens a tag or ends a value.
        func skeleton(_ html: String) -> String {
            html.replacing(/"[^"]*"/, with: "\"\"").replacing(/>[^<]*</, with: "><")
        }
        for (html, plain) in zip(try Self.pages(text), try Self.pages("plain text")) {
            #expect(skeleton(html) == skeleton(plain))
            #expect(html.components(of: "<style>", "</style>") == plain.components(of: "<style>", "</style>"))
            #expect(!html.contains("src=") && html.matches(of: /class="slot"/).count == 2)
        }
    }

    /// Texts that are shown are shown as they are: no test here passes because nothing is shown.
    @Test func textsAreShownInEveryField() throws {
        for html in try Self.pages("plain text") {
            for field in [">plain text<", #"alt="plain text""#, #"value="plain text""#, #"placeholder="plain text""#] {
                #expect(html.contains(field), "\(field)")
            }
            for field in ["data-tap-detail", "data-change-detail"] {
                #expect(html.contains(#"\#(field)="&quot;plain text&quot;""#), "\(field)")
            }
            #expect(html.contains(#"aria-label="plain text""#) && html.contains(":&quot;plain text&quot;"))
        }
    }
}

extension String {
    fileprivate func components(of start: String, _ end: String) -> Substring? {
        guard let first = firstRange(of: start), let last = firstRange(of: end) else { return nil }
        return self[first.upperBound..<last.lowerBound]
    }
}
