import Foundation
import RunwayJSON
import Testing

@testable import RunwayViews

/// The examples of the documentation.
struct ViewsExamples {
    @Test func aDocumentIsFilledWithData() throws {
        let document = try ViewDocument(JSONDocument(#"{ "node": "text", "text": "Hello {name}" }"#).root)
        let tree = document.tree(of: try JSONDocument(#"{ "name": "Ada" }"#).root)
        let page = tree.html()
        #expect(page.contains("Hello Ada"))
    }

    @Test func editsAreAppliedInOrder() throws {
        let document = try ViewDocument(JSONDocument(#"{ "node": "text", "text": "Hello {name}" }"#).root)
        let tree = document.tree(of: try JSONDocument(#"{ "name": "Ada" }"#).root)
        let changed = try JSONDocument(#"{ "name": "Lin" }"#).root
        var texts: [String] = []
        func apply(_ edit: ViewEdit, _ node: ViewNode?) { texts.append(node?.text ?? "") }

        let next = document.tree(of: changed, after: tree)
        for edit in next.edits(since: tree) { apply(edit, next.node(at: edit.path)) }

        #expect(texts == ["Hello Lin"])
    }

    @Test func aTreeFollowsAnother() throws {
        let document = try ViewDocument(JSONDocument(#"{ "node": "text", "text": "{a}" }"#).root)
        let (data, changed) = try (JSONDocument(#"{ "a": 1 }"#).root, JSONDocument(#"{ "a": 2 }"#).root)

        let tree = document.tree(of: data)
        let next = document.tree(of: changed, after: tree)
        let edits = next.edits(since: tree)

        #expect(edits == [ViewEdit(path: [], action: .change)])
    }

    @Test func valuesAreEncoded() throws {
        struct Coupon: Encodable {
            let title: String
            let price: Double
        }
        let document = try ViewDocument(JSONDocument(#"{ "node": "text", "text": "{title}: {price}" }"#).root)
        let coupon = Coupon(title: "Tea", price: 2.5)

        let tree = try document.tree(encoding: coupon)

        #expect(tree.root.text == "Tea: 2.5")
        #expect(throws: EncodingError.self) { try document.tree(encoding: Coupon(title: "Tea", price: .infinity)) }
    }

    /// The blocks of JSON in the article.
    private func documents() throws -> [String] {
        try article().components(separatedBy: "```json\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
    }

    private func article() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
        let file = root.appending(path: "Sources/RunwayViews/RunwayViews.docc/ViewsFromJSON.md")
        return try String(contentsOf: file, encoding: .utf8)
    }

    @Test func documentsOfTheArticleAreValid() throws {
        let skin = try ViewSkin(JSONDocument(##"{ "surface": "#ffffff" }"##).root)
        let documents = try documents().map { try ViewDocument(Array($0.utf8), skin: skin) }
        #expect(documents.count == 2 && documents.allSatisfy(\.problems.isEmpty))
        let data = try JSONDocument(#"{"name":"Ada","coupons":[{"id":7,"title":"Tea","price":2}]}"#).root
        #expect(documents[0].tree(of: data).texts == ["Coupons for Ada", "Tea", "2 €"])
        #expect(documents[0].tree(of: try JSONDocument("{}").root).texts == ["Coupons for ", "No coupons today."])
    }

    @Test func articleHasTheTableOfAttributes() throws {
        let rows = Attribute.allCases.map { attribute in
            let row = attribute.row
            return "| `\(attribute.rawValue)` | \(row.form.description) | `\(row.property)` | `\(row.modifier)` |"
        }
        let table = (["| attribute | value | style sheet | SwiftUI |", "|---|---|---|---|"] + rows).joined(
            separator: "\n")
        #expect(try article().contains(table), "\(table)")
    }
}
