import RunwayJSON
import RunwayViews
import Testing

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
}
