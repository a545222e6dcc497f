import RunwayJSON
import Testing

@testable import RunwayViews

struct ResolvingTests {
    @Test(arguments: [
        ("{a}", #"{"a":"x"}"#, "x"), ("{a.b.1}!", #"{"a":{"b":[1,2.50]}}"#, "2.50!"),
        ("{a.1}", #"{"a":{"1":"one"}}"#, "one"),
        ("{{a} {a}", #"{"a":true}"#, "{a} true"), ("<{a}>", "{}", "<>"), ("<{a}>", #"{"a":null}"#, "<>"),
        ("<{a}>", #"{"a":[1]}"#, "<>"),
        ("<{a.b}>", #"{"a":"x"}"#, "<>"), ("{größe}", #"{"größe":"3 m"}"#, "3 m"), ("}", "{}", "}"),
    ])
    func pathsLeadIntoTheData(text: String, json: String, result: String) throws {
        #expect(try view(#"{"node":"text","text":"\#(text)"}"#).texts(json) == [result])
    }

    @Test(arguments: [
        ("true", true), ("false", false), ("null", false), ("0", false), ("0.0", false), ("2", true), (#""""#, false),
        (#""a""#, true),
        ("[]", false), ("[0]", true), ("{}", false), (#"{"a":1}"#, true),
    ])
    func conditionsHoldForValuesThatAreNotEmpty(json: String, holds: Bool) throws {
        let document = try view(
            #"{"node":"box","children":[{"node":"text","text":"yes","if":"{a}","else":{"node":"text","text":"no"}},{"node":"text","text":"not","if":"!{a}"}]}"#
        )
        #expect(try document.texts(#"{"a":\#(json)}"#) == (holds ? ["yes"] : ["no", "not"]))
        #expect(try document.texts("{}") == ["no", "not"])
    }

    @Test func repetitionsNestAndShowElse() throws {
        let document = try view(
            """
            {"node":"box","children":[{"node":"box","each":"{groups}","as":"group","children":[
              {"node":"text","each":"{group.items}","text":"{group.name}{item}{sign}","else":{"node":"text","text":"no {group.name}"}}]}]}
            """)
        #expect(document.problems.isEmpty)
        let json = #"{"sign":"!","groups":[{"name":"a","items":[1,2]},{"name":"b","items":[]},{"name":"c"}]}"#
        #expect(try document.texts(json) == ["a1!", "a2!", "no b", "no c"])
    }

    @Test func templatesSeeOnlyTheirParameters() throws {
        let document = try view(
            """
            {"view":{"node":"box","children":[
              {"node":"use","template":"price","each":"{items}","with":{"amount":"{item.price}","unit":"{currency}","tint":"#f00"}},
              {"node":"use","template":"price","with":{"amount":7}}]},
             "templates":{"price":{"node":"text","text":"{amount} {unit}{currency}","color":"{tint}"}}}
            """)
        #expect(document.problems.isEmpty)
        let tree = document.tree(of: try data(#"{"currency":"€","items":[{"price":1.50}]}"#))
        #expect(tree.texts == ["1.50 €", "7 "])
        #expect(tree.root.children.map { $0.appearance.settings.map(\.declaration) } == [["color:#ff0000ff"], []])
    }

    @Test func dataOfTheWrongKindLeavesAttributesAbsent() throws {
        let document = try view(#"{"node":"box","opacity":"{o}","color":"{c}"}"#)
        #expect(document.tree(of: try data(#"{"o":7,"c":"red"}"#)).root.appearance.settings.isEmpty)
        #expect(document.tree(of: try data(##"{"o":0.5,"c":"#fff"}"##)).root.appearance.settings.count == 2)
    }

    @Test func keysAreUniqueWhateverTheDataAre() throws {
        let document = try view(
            #"{"node":"box","children":[{"node":"text","text":"{i}","each":"{a}","as":"i","key":"{i}"},{"node":"text","text":"x"}]}"#
        )
        let json =
            #"{"a":["1","1","0#1:1","1#1","",0,"1",".0",null,"\#(String(repeating: "long", count: 99))","\#(String(repeating: "long", count: 98))"]}"#
        let tree = document.tree(of: try data(json))
        let keys = tree.root.children.map(\.key)
        #expect(keys.count == 12 && Set(keys).count == 12, "\(keys)")
        #expect(tree.node(at: [keys[1]])?.text == "1")
    }

    @Test func eventsCarryTheirDetail() throws {
        let document = try view(
            #"{"node":"text","on":{"tap":{"name":"open","detail":"{a}"}},"if":"{a}","else":{"node":"input","value":"{b}","on":{"change":"typed"}}}"#
        )
        let tap = document.tree(of: try data(#"{"a":{"id": 7}}"#)).root.tap
        #expect(tap == ViewEvent(name: "open", detail: ArraySlice(#"{"id": 7}"#.utf8)))
        let input = document.tree(of: try data("{}")).root
        #expect(input.change == ViewEvent(name: "typed", detail: ArraySlice("null".utf8)) && input.tap == nil)
    }

    @Test func slotsHaveParametersAndElse() throws {
        let document = try view(
            #"{"node":"slot","name":"map","with":{"place":"{p}","zoom":3,"note":"a {q}"},"else":{"node":"text","text":"no map"}}"#
        )
        let slot = document.tree(of: try data(#"{"p":{"x":1},"q":"\""}"#)).root
        #expect(
            String(decoding: slot.appearance.parameters, as: UTF8.self) == #"{"place":{"x":1},"zoom":3,"note":"a \""}"#)
        #expect(slot.children.map(\.text) == ["no map"])
    }

    // MARK: Bounds

    @Test func listsOfManyRowsStayLazy() throws {
        let document = try view(
            #"{"node":"list","children":[{"node":"text","text":"head"},{"node":"text","each":"{rows}","as":"r","text":"{r.t}","key":"{r.t}"}]}"#
        )
        let rows = (0..<10_000).map { #"{"t":"\#($0)"}"# }.joined(separator: ",")
        let tree = document.tree(of: try data(#"{"rows":[\#(rows)]}"#))
        let list = tree.root.children
        #expect(list.count == 10_001 && !tree.isTruncated)
        #expect(list[0].text == "head" && list[9000].text == "8999" && list[9000] === list[9000])
        #expect(list.rows?.knownNode(at: 1) == nil && list.rows?.knownNode(at: 9000) != nil)
        _ = list.reduce(0) { $0 + $1.text.count }
        #expect((0..<list.count).count { list.rows?.knownNode(at: $0) != nil } <= LazyRows.maximumKnownCount)
    }

    @Test func treesStopGrowingAtTheirLimit() throws {
        let levels = (0..<10).map { level in
            let use = #"{"node":"use","template":"t\#(level + 1)","with":{"on":"{on}"}}"#
            let children = Array(repeating: use, count: 4).joined(separator: ",")
            return #""t\#(level)":{"node":"box","if":"{on}","children":[\#(children)]}"#
        }
        // A million uses of one template, four in each; also if the last shows nothing.
        for last in [#"{"node":"text","text":"{on}"}"#, #"{"node":"box","if":"!{on}"}"#] {
            let document = try view(
                #"{"view":{"node":"use","template":"t0","with":{"on":"{on}"}},"templates":{\#(levels.joined(separator: ",")),"t10":\#(last)}}"#
            )
            let tree = document.tree(of: try data(#"{"on":"x"}"#))
            #expect(tree.isTruncated && Copy(tree.root).count <= 10_000)
        }
    }

    @Test func elementsOfABoxAreLimited() throws {
        let document = try view(
            #"{"node":"box","children":[{"node":"box","each":"{a}","children":[{"node":"text","each":"{item}","as":"t","text":"{t}"}]}]}"#
        )
        let row = "[" + String(repeating: "1,", count: 999) + "1]"
        let tree = document.tree(of: try data(#"{"a":[\#(Array(repeating: row, count: 100).joined(separator: ","))]}"#))
        #expect(tree.isTruncated && (9900...10_000).contains(Copy(tree.root).count))
    }

    @Test func argumentsAreLimitedAsTexts() throws {
        func argument(_ node: ViewNode) -> Int {
            guard case .nodes(let made) = node.children.storage else { return 0 }
            return made.scope?.parameters.first?.text(upTo: 1 << 20).utf8.count ?? 0
        }
        let levels = (0..<8).map {
            #""t\#($0)":{"node":"use","template":"t\#($0 + 1)","with":{"p":"{p}{p}{p}{p}"}}"#
        }
        let document = try view(
            #"{"view":{"node":"box","children":[{"node":"use","template":"t0","each":"{a}","as":"p","with":{"p":"{p}"}}]},"templates":{\#(levels.joined(separator: ",")),"t8":{"node":"box","children":[{"node":"box","if":"{p}"}]}}}"#
        )
        let tree = document.tree(of: try data(#"["x"\#(String(repeating: ",1", count: 99))]"#.wrapped))
        let lengths = tree.root.children.map(argument)
        #expect(tree.isTruncated && lengths.first == 10_000 && lengths.reduce(0, +) <= 1_000_000, "\(lengths)")
    }

    @Test func namesOfParametersCountAsText() throws {
        let limits = ViewLimits(maximumTextLength: 10)
        let names = (0..<20).map { #""name\#($0)":1"# }.joined(separator: ",")
        let document = try view(
            #"{"node":"box","children":[{"node":"slot","name":"s","each":"{a}","with":{\#(names)}}]}"#, limits: limits)
        let tree = document.tree(of: try data("[\(String(repeating: "1,", count: 99))1]".wrapped))
        let lengths = tree.root.children.map(\.appearance.parameters.count)
        #expect(tree.isTruncated && (1000...1200).contains(lengths.reduce(0, +)), "\(lengths)")
    }

    @Test func longTextsAreNotMade() throws {
        var names = Names()
        let template = try #require(Template("{a}ä{a}", names: &names))
        let scope = Scope(data: try data(#""\#(String(repeating: "long", count: 99))""#.wrapped))
        var resolver = Resolver(limits: .default, nodeLimit: 10)
        for (limit, count) in [(64, 68), (398, 402)] {
            let text = resolver.value(of: template, upTo: limit, in: scope).text(upTo: limit)
            #expect(text.utf8.count == count)
        }
    }

    @Test func textsAreCutAtACharacter() throws {
        let limits = ViewLimits(maximumTextLength: 10)
        let document = try view(
            #"{"node":"box","children":[{"node":"text","text":"{a}","on":{"tap":{"name":"t","detail":"{a}"}}}]}"#,
            limits: limits)
        let tree = document.tree(of: try data(#"{"a":"123456789ä"}"#))
        #expect(tree.texts == ["123456789"] && tree.isTruncated)
        #expect(tree.root.children[0].tap?.detail == ArraySlice("null".utf8))
        let many = try view(
            #"{"node":"box","children":[{"node":"text","text":"{t}","each":"{a}","as":"t"}]}"#, limits: limits)
        let texts = many.tree(
            of: try data("[\(Array(repeating: #""12345""#, count: 300).joined(separator: ","))]".wrapped)
        ).texts
        #expect(texts.joined().count == 1000)
    }
}

extension String {
    /// The text as the member `a` of an object.
    fileprivate var wrapped: String { #"{"a":\#(self)}"# }
}
