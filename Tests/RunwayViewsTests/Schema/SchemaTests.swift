import Foundation
import RunwayJSON
import Testing

@testable import RunwayViews

struct SchemaTests {
    @Test func publishedSchemaIsMadeOfTheTables() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        let file = root.appending(path: "docs/view.schema.json")
        #expect(try String(contentsOf: file, encoding: .utf8) == ViewSchema.text)
    }

    @Test func schemaIsJSONWithAllNames() throws {
        let node = try JSONDocument(ViewSchema.text).root["$defs"]["node"]["properties"]
        let names = NodeMember.allCases.map(\.rawValue) + Attribute.allCases.map(\.rawValue)
        #expect(node.members.map(\.key) == names && Attribute.allCases.count == 25)
        #expect(node["opacity"]["anyOf"][0]["maximum"].int == 1)
    }

    @Test func tableHasARowForEachAttribute() {
        #expect(Set(Attribute.table.keys) == Set(Attribute.allCases))
        #expect(Set(Attribute.table.values.map(\.property)).count == Attribute.allCases.count)
    }

    @Test(arguments: [
        ("width", "12.5", "width:12.5px"), ("width", #""fill""#, "width:100%"),
        ("width", #""content""#, "width:max-content"),
        ("grow", "1", "flex-grow:1"), ("color", ##""#0af""##, "color:#00aaffff"), ("clip", "true", "overflow:clip"),
        ("color", ##"{"light":"#000000","dark":"#ffffff80"}"##, "color:light-dark(#000000ff,#ffffff80)"),
        ("border", ##""#abcdef""##, "border:1px solid #abcdefff"), ("rotate", "-90", "rotate:-90deg"),
        ("lines", "2", "-webkit-line-clamp:2"), ("decoration", #""strike""#, "text-decoration-line:line-through"),
        (
            "animate", #"{"property":"slide","from":0,"to":-50.5,"seconds":8}"#,
            "animation:8s linear infinite normal both slide_0_-50p5"
        ),
    ])
    func anAttributeIsOneDeclaration(name: String, value: String, declaration: String) throws {
        let document = try view(#"{"node":"box","\#(name)":\#(value)}"#)
        #expect(document.problems.isEmpty)
        #expect(document.root.settings.map(\.declaration) == [declaration])
    }

    @Test(arguments: [
        ("width", "-1"), ("width", #""wide""#), ("opacity", "1.1"), ("lines", "1.5"), ("color", ##""#12345""##),
        ("color", ##"{"light":"#000"}"##), ("color", #""red;}*{""#), ("clip", "1"), ("font", #""huge""#),
        ("rotate", "null"),
        ("animate", #"{"property":"slide","from":0,"to":9999,"seconds":8}"#), ("animate", #""spin""#),
        ("animate", #"{"property":"slide","from":0,"to":9,"seconds":8,"repeats":"yes"}"#),
    ])
    func invalidValuesAreListedAndIgnored(name: String, value: String) throws {
        let document = try view(#"{"node":"box","children":[{"node":"box","\#(name)":\#(value)}]}"#)
        #expect(document.problems.map(\.kind) == [.invalidValue])
        #expect(document.problems.first?.path == "children[0].\(name)")
        #expect(document.root.children[0].settings.isEmpty)
    }
}
