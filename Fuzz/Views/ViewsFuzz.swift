// libFuzzer's target for documents of views: from bytes to nodes, trees, edits and HTML.

import RunwayJSON

@testable import RunwayViews

/// Reads a document, its data and changed data, which U+001E separates: JSON contains none. Absent data are `{}`.
@_cdecl("LLVMFuzzerTestOneInput")
public func showAnything(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: size))
    let parts = bytes.split(separator: 0x1E, maxSplits: 2, omittingEmptySubsequences: false)
    let values = parts.dropFirst().compactMap { try? JSONDocument(Array($0)).root }
    guard let skin = try? ViewSkin(JSONDocument(##"{"ink":{"light":"#000","dark":"#fff"},"inset":8}"##).root),
        let empty = try? JSONDocument("{}").root
    else { preconditionFailure("a skin is unreadable") }
    let narrow = ViewLimits(
        maximumDepth: 8, maximumNodeCount: 40, maximumRowNodeCount: 10, maximumRowCount: 20, maximumTextLength: 12,
        maximumProblemCount: 3)
    let wide = ViewLimits(maximumNodeCount: 2000, maximumRowNodeCount: 200, maximumRowCount: 500)
    for limits in [narrow, wide] {
        guard let document = try? ViewDocument(Array(parts[0]), skin: skin, limits: limits) else { continue }
        precondition(document.problems.count <= limits.maximumProblemCount, "too many problems")
        show(document, [values.first ?? empty, values.last ?? empty], limits)
    }
    return 0
}

private func show(_ document: ViewDocument, _ values: [JSONValue], _ limits: ViewLimits) {
    let former = document.tree(of: values[0])
    check(former, limits)
    let (full, next) = (document.tree(of: values[1]), document.tree(of: values[1], after: former))
    check(full, limits)
    precondition(full.isTruncated == next.isTruncated && full.root == next.root, "a change makes another tree")
    precondition(full.edits(since: next).isEmpty, "equal trees differ")
    for edit in next.edits(since: former) where edit.action != .remove {
        precondition(next.node(at: edit.path) != nil, "an edit of no node")
    }
}

private func check(_ tree: ViewTree, _ limits: ViewLimits) {
    var texts = 0
    let count = check(tree.root, limits, &texts)
    precondition(count <= limits.maximumNodeCount + 1, "too many nodes")
    precondition(texts <= limits.totalTextLength, "too much text")
    let page = ViewPage(maximumNodeCount: limits.maximumNodeCount)
    var writer = HTMLWriter(addresses: page.addresses, nodeLimit: page.maximumNodeCount)
    writer.write(tree.root)
    check(html: writer.html)
    precondition(!writer.styleSheet.utf8.contains(UInt8(ascii: "<")), "a style sheet that ends")
    _ = tree.html(page)
}

/// Checks a node and all below it. Returns the number of nodes without those of rows, which have their own limit.
private func check(_ node: ViewNode, _ limits: ViewLimits, _ texts: inout Int) -> Int {
    let appearance = node.appearance
    for text in [appearance.text, appearance.label, appearance.placeholder] {
        precondition(text.utf8.count <= limits.maximumTextLength, "a long text")
        texts += text.utf8.count
    }
    for event in appearance.events.values { checkJSON(event.detail, .default) }
    if appearance.kind == .slot { checkJSON(appearance.parameters, JSONLimits(maximumDepth: 1 << 10)) }
    guard let rows = node.children.rows else {
        return node.children.reduce(1) { $0 + check($1, limits, &texts) }
    }
    precondition(node.children.count <= limits.maximumRowCount, "too many rows")
    for index in rows.entries.indices {
        var texts = 0
        precondition(check(rows.node(at: index), limits, &texts) <= limits.maximumRowNodeCount + 1, "a large row")
        precondition(texts <= limits.totalTextLength, "too much text in a row")
    }
    return 1
}

private func checkJSON(_ bytes: ArraySlice<UInt8>, _ limits: JSONLimits) {
    precondition((try? JSONDocument(Array(bytes), limits: limits)) != nil, "no JSON")
}

/// Checks that HTML consists of tags of the writer's own, each closed, with attributes of its own.
private func check(html: String) {
    var open: [Substring] = []
    for tag in html.split(separator: "<").filter({ $0 != "" }) {
        guard let end = tag.firstIndex(of: ">") else { preconditionFailure("a tag without an end") }
        let inside = tag[..<end]
        let name = inside.prefix { $0 != " " }
        if name.first == "/" {
            precondition(open.popLast() == name.dropFirst(), "a tag closes another")
            continue
        }
        precondition(["div", "img", "input"].contains(name) || name.count == 2 && name.first == "h", "an unknown tag")
        precondition(inside.utf8.count { $0 == UInt8(ascii: "\"") }.isMultiple(of: 2), "an open quotation mark")
        if !["img", "input"].contains(name) { open.append(name) }
    }
    precondition(open.isEmpty, "an element without an end")
}
