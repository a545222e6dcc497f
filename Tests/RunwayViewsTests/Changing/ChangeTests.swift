import Foundation
import RunwayJSON
import Testing

@testable import RunwayViews

extension Copy {
    /// Applies edits, as a renderer does.
    func apply(_ edits: [ViewEdit], from tree: ViewTree) throws {
        for edit in edits {
            guard let key = edit.path.last else {
                (appearance, children) =
                    edit.action == .replace
                    ? (Copy(tree.root).appearance, Copy(tree.root).children) : (tree.root.appearance, children)
                continue
            }
            let parent = try edit.path.dropLast().reduce(self) { node, key in
                try #require(node.children.first { $0.key == key })
            }
            let index = parent.children.firstIndex { $0.key == key }
            func place(_ node: Copy, after sibling: String?) throws {
                let before = try sibling.map { key in try #require(parent.children.firstIndex { $0.key == key }) }
                parent.children.insert(node, at: before.map { $0 + 1 } ?? 0)
            }
            switch edit.action {
            case .remove: parent.children.remove(at: try #require(index))
            case .insert(let sibling): try place(Copy(try #require(tree.node(at: edit.path))), after: sibling)
            case .move(let sibling): try place(parent.children.remove(at: try #require(index)), after: sibling)
            case .replace: parent.children[try #require(index)] = Copy(try #require(tree.node(at: edit.path)))
            case .change:
                parent.children[try #require(index)].appearance = try #require(tree.node(at: edit.path)).appearance
            }
        }
    }
}

struct ChangeTests {
    private static let rows =
        #"{"node":"LIST","children":[{"node":"box","each":"{rows}","as":"r","key":"{r.id}","children":[{"node":"text","text":"{r.id}{unit}"},{"node":"text","text":"{r.t}"}]}]}"#

    private func rows(_ ids: [Int], unit: String = "", changed: Int? = nil) throws -> JSONValue {
        let rows = ids.map { #"{"id":\#($0),"t":"\#($0 == changed ? "new" : "old")"}"# }
        return try data(#"{"unit":"\#(unit)","rows":[\#(rows.joined(separator: ","))]}"#)
    }

    private func keys(_ ids: Int...) -> [String] { ids.map { "0:\($0)" } }

    @Test(arguments: ["box", "list"]) func oneChangedValueIsOneEdit(kind: String) throws {
        let document = try view(Self.rows.replacing("LIST", with: kind))
        let former = document.tree(of: try rows([1, 2, 3]))
        _ = Copy(former.root)
        let present = document.tree(of: try rows([1, 2, 3], changed: 2), after: former)
        #expect(present.edits(since: former) == [ViewEdit(path: ["0:2", "1"], action: .change)])
        #expect(present.root.children[0] === former.root.children[0])
        #expect(present.root.children[1].children[0] === former.root.children[1].children[0])
    }

    @Test func equalDataMakeTheSameTree() throws {
        let document = try view(Self.rows.replacing("LIST", with: "box"))
        let former = document.tree(of: try rows([1, 2, 3]))
        let present = document.tree(of: try rows([1, 2, 3]), after: former)
        #expect(present.root === former.root && present.edits(since: former).isEmpty)
    }

    @Test(arguments: ["box", "list"]) func rowsMoveAsLittleAsPossible(kind: String) throws {
        let document = try view(Self.rows.replacing("LIST", with: kind))
        let former = document.tree(of: try rows([1, 2, 3, 4, 5]))
        _ = Copy(former.root)
        let present = document.tree(of: try rows([5, 1, 3, 4, 6]), after: former)
        #expect(
            present.edits(since: former) == [
                ViewEdit(path: keys(2), action: .remove), ViewEdit(path: keys(5), action: .move(after: nil)),
                ViewEdit(path: keys(6), action: .insert(after: "0:4")),
            ])
    }

    @Test func valuesFromOutsideChangeAllRows() throws {
        let document = try view(Self.rows.replacing("LIST", with: "list"))
        let former = document.tree(of: try rows([1, 2], unit: "m"))
        _ = former.root.children[0]
        let present = document.tree(of: try rows([1, 2], unit: "km"), after: former)
        // The second row was not read, so that nobody shows it.
        #expect(
            present.edits(since: former) == [
                ViewEdit(path: ["0:1", "0"], action: .change), ViewEdit(path: ["0:2"], action: .replace),
            ])
    }

    @Test func treesOfOtherDocumentsAreIgnored() throws {
        let rows = #"{"node":"box","children":[{"node":"text","each":"{a}","text":"TEXT {item}"}]}"#
        let (one, other) = try (view(rows.replacing("TEXT", with: "one")), view(rows.replacing("TEXT", with: "other")))
        let json = try data(#"{"a":[1]}"#)
        #expect(other.tree(of: json, after: one.tree(of: json)).texts == ["other 1"])
    }

    @Test func longestIncreaseIsFound() {
        #expect(Difference.longestIncrease([]) == [])
        #expect(Difference.longestIncrease([4, 0, 1, 5, 2, 3]) == [0, 1, 2, 3])
        #expect(Difference.longestIncrease([3, 2, 1]).count == 1)
    }

    /// How many documents each seed makes; more by hand.
    private static let documentCount =
        ProcessInfo.processInfo.environment["RUNWAY_VIEW_DOCUMENTS"].flatMap { Int($0) } ?? 1000

    /// Trees from full reads and from changes are equal, and edits make one of the other.
    @Test(arguments: [UInt64(1), 2]) func randomChangesMakeTheTreesOfFullReads(seed: UInt64) throws {
        var readable = 0
        for number in 0..<Self.documentCount {
            var generator = Generator(seed: seed << 32 | UInt64(number))
            let text = generator.document()
            let limits = ViewLimits(maximumNodeCount: number.isMultiple(of: 5) ? 60 : 400, maximumRowNodeCount: 30)
            guard let document = try? view(text, limits: limits) else { continue }
            readable += 1
            var values = generator.object()
            var tree = document.tree(of: try data(values.json))
            for _ in 0..<3 {
                values = generator.changed(values)
                let json = try data(values.json)
                let copy = Copy(tree.root)
                let (full, next) = (document.tree(of: json), document.tree(of: json, after: tree))
                let (all, present) = (Copy(full.root), Copy(next.root))
                try #require(all == present && full.isTruncated == next.isTruncated, "\(seed) \(number)")
                let edits = next.edits(since: tree)
                try #require(edits.count <= copy.count + all.count)
                try copy.apply(edits, from: next)
                try #require(copy == all, "\(seed) \(number): \(edits)\n\(text)\n\(values.json)")
                tree = next
            }
            if number.isMultiple(of: 4) {
                let page = tree.html()
                try #require(!page.contains("<b>") && !page.contains("<i>"), "\(seed) \(number)")
            }
        }
        #expect(readable > Self.documentCount * 4 / 5, "\(readable)")
    }
}
