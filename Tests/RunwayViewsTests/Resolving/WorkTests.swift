import RunwayJSON
import Testing

@testable import RunwayViews

/// How much of data and documents is read, whatever their size.
struct WorkTests {
    @Test(arguments: ["a", "ä", "日", "😀", #"\n"#, #"\u00e9"#, #"\ud83d\ude00"#, #"\ud83d"#])
    func startsOfLongStringsAreRead(character: String) throws {
        for length in 0..<40 {
            for count in [0, 1, length, length + 9, 1000] {
                let value = try JSONDocument("\"\(String(repeating: character, count: count))\"").root
                let (whole, start) = (try #require(value.string), value.start(upTo: length))
                #expect(value.rawStart(upTo: length).count <= 6 * (length + 8) + 4)
                #expect(start == whole || start.utf8.count > length)
                // What is shown of both is the same.
                #expect(Resolver.prefix(start, length) == Resolver.prefix(whole, length))
            }
        }
    }

    @Test func longNumbersAreNotRead() throws {
        let digits = String(repeating: "7", count: 1000)
        let number = Datum.json(try JSONDocument(digits).root)
        #expect(number.number == nil && number.isTrue && number.text(upTo: 20).count == 21)
        let document = try view(#"{"node":"text","text":"{n}","opacity":"{n}","color":"{c}","width":"{c}"}"#)
        let tree = document.tree(of: try data(##"{"n":0.\##(digits),"c":"#\##(digits)"}"##))
        #expect(tree.root.appearance.settings.isEmpty && tree.root.text == "0.\(digits)")
    }

    @Test(arguments: [
        #"{"node":"text","text":"PATHS","each":"{rows}"}"#, #"{"node":"text","label":"PATHS","each":"{rows}"}"#,
        #"{"node":"text","on":{"tap":{"name":"t","detail":"PATHS"}},"each":"{rows}"}"#,
        #"{"node":"text","key":"PATHS","each":"{rows}"}"#,
        #"{"node":"slot","name":"s","with":{"p":"PATHS"},"each":"{rows}"}"#,
        #"{"node":"list","children":[{"node":"text","key":"PATHS","each":"{rows}"}]}"#,
    ])
    func emptyPathsAreCounted(child: String) throws {
        let limits = ViewLimits(maximumNodeCount: 10)
        let paths = String(repeating: "{a}", count: 400)
        let document = try view(
            #"{"node":"box","children":[\#(child.replacing("PATHS", with: paths))]}"#, limits: limits)
        for (count, isTruncated) in [(1, false), (2, false), (3, true), (8, true)] {
            let rows = Array(repeating: "1", count: count).joined(separator: ",")
            let json = try data(#"{"rows":[\#(rows)]}"#)
            var resolver = Resolver(limits: limits, nodeLimit: 10)
            _ = resolver.node(document.root, key: "", in: Scope(data: json), former: nil)
            #expect(resolver.isTruncated == isTruncated && resolver.usage.pathCount <= 1000)
            #expect(resolver.usage.pathCount > min(count * 400, 999))
            let former = document.tree(of: json)
            let next = document.tree(of: try data(#"{"rows":[\#(rows)],"a":""}"#), after: former)
            #expect(next.isTruncated == isTruncated)
        }
    }

    @Test func pathsOutsideARepetitionAreLimited() throws {
        func rows(_ count: Int) -> String {
            let text = (0..<count).map { "{p\($0)}{r.p\($0)}" }.joined()
            return #"{"node":"box","children":[{"node":"text","each":"{rows}","as":"r","text":"\#(text)"}]}"#
        }
        _ = try view(rows(256))
        let error = #expect(throws: ViewError.self) { try view(rows(257)) }
        #expect(error?.kind == .limit && error?.path == "children[0]")
    }
}
