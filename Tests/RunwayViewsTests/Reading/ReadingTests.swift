import Foundation
import RunwayJSON
import Testing

@testable import RunwayViews

struct ReadingTests {
    @Test(arguments: [
        ("{", ViewError.Kind.json, "$"), ("[]", .structure, "$"), ("{}", .structure, "$"),
        (#"{"node":1}"#, .structure, "node"), (#"{"view":{"text":"a"}}"#, .structure, "view.node"),
        (#"{"view":{"node":"box","children":{}}}"#, .structure, "view.children"),
        (#"{"node":"box","children":[{"node":"text"},7]}"#, .structure, "children[1]"),
        (#"{"node":"text","color":"$ink"}"#, .missingToken, "color"), (#"{"node":"use"}"#, .structure, "template"),
        (#"{"node":"use","template":"a"}"#, .missingTemplate, "template"),
        (#"{"view":{"node":"box"},"templates":[]}"#, .structure, "templates"),
        (
            #"{"view":{"node":"box"},"templates":{"a":{"node":"use","template":"a"}}}"#, .templateCycle,
            "templates.a.template"
        ),
        (
            #"{"view":{"node":"use","template":"a"},"templates":{"a":{"node":"box","children":[{"node":"use","template":"b"}]},"b":{"node":"use","template":"a"}}}"#,
            .templateCycle, "templates.b.template"
        ),
    ])
    func errorsHaveThePathOfTheirNode(text: String, kind: ViewError.Kind, path: String) {
        let error = #expect(throws: ViewError.self) { try view(text) }
        #expect(error?.kind == kind && error?.path == path, "\(String(describing: error))")
    }

    @Test(arguments: [
        (#"{"node":"text","colour":"red"}"#, ViewError.Kind.unknownAttribute, "colour"),
        (#"{"node":"text","children":[]}"#, .unknownAttribute, "children"),
        (#"{"node":"box","children":[{"node":"chart"}]}"#, .unknownNode, "children[0].node"),
        (#"{"node":"text","text":"{a"}"#, .invalidValue, "text"),
        (#"{"node":"text","text":"{a b}"}"#, .invalidValue, "text"),
        (#"{"node":"text","text":"a","text":"b"}"#, .invalidValue, "text"),
        (#"{"node":"text","if":"{a} and {b}"}"#, .invalidValue, "if"),
        (#"{"node":"text","each":"{a}"}"#, .invalidValue, "each"),
        (#"{"node":"text","on":{"swipe":"a"}}"#, .unknownAttribute, "on.swipe"),
        (#"{"node":"text","on":{"tap":{}}}"#, .invalidValue, "on.tap"),
        (#"{"node":"text","heading":7}"#, .invalidValue, "heading"),
        (#"{"node":"slot","name":"\#(String(repeating: "n", count: 129))"}"#, .invalidValue, "name"),
        (
            #"{"node":"slot","name":"\#(String(repeating: "n", count: 128))","with":{"\#(String(repeating: "n", count: 129))":1}}"#,
            .invalidValue, "with.\(String(repeating: "n", count: 129))"
        ),
        (#"{"node":"box","layout":"grid"}"#, .invalidValue, "layout"),
        (#"{"view":{"node":"box"},"style":1}"#, .unknownAttribute, "style"),
        (
            #"{"view":{"node":"use","template":"a","with":{"b":1}},"templates":{"a":{"node":"box"}}}"#,
            .unknownAttribute,
            "view.with.b"
        ),
        (
            #"{"view":{"node":"use","template":"a","width":1},"templates":{"a":{"node":"box"}}}"#, .unknownAttribute,
            "view.width"
        ),
    ])
    func partsOfLaterVersionsAreListed(text: String, kind: ViewError.Kind, path: String) throws {
        let problems = try view(text).problems
        #expect(problems.map(\.kind) == [kind] && problems.first?.path == path, "\(problems)")
    }

    @Test func unknownNodesShowTheirElse() throws {
        let document = try view(
            #"{"node":"box","children":[{"node":"chart","colour":1,"else":{"node":"text","text":"{n} sold"}},{"node":"map"}]}"#
        )
        #expect(try document.texts(#"{"n":7}"#) == ["7 sold"])
        #expect(document.problems.count == 2)
    }

    @Test func tokensAreValuesOfTheSkin() throws {
        let text = ##"{"node":"box","background":"$ink","paddingInline":"$inset"}"##
        let one = try view(text, skin: ##"{"ink":{"light":"#000","dark":"#fff"},"inset":8}"##)
        #expect(one.root.settings.map(\.declaration).last == "padding-inline:8px")
        let other = try view(text, skin: ##"{"ink":"#00f","inset":"wide"}"##)
        #expect(other.root.settings.map(\.declaration) == ["background-color:#0000ffff"])
        #expect(other.problems.map(\.path) == ["paddingInline"])
    }

    @Test func depthAndNumberOfNodesAreLimited() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: #"{"node":"box","children":["#, count: depth - 1) + #"{"node":"text"}"#
                + String(repeating: "]}", count: depth - 1)
        }
        _ = try view(nested(32))
        for text in [nested(33), nested(250)] {
            #expect(throws: ViewError.self) { try view(text) }
        }
        let many = String(repeating: #"{"node":"text"},"#, count: 9999) + #"{"node":"text"}"#
        let error = #expect(throws: ViewError.self) { try view(#"{"node":"box","children":[\#(many)]}"#) }
        #expect(error?.kind == .limit && error?.path == "children[9999]")
    }

    /// Templates, each of which has the former one in a box: two levels each.
    private static func boxes(_ count: Int) -> [UInt8] {
        let templates = (1..<count).map {
            #","t\#($0)":{"node":"box","children":[{"node":"use","template":"t\#($0 - 1)"}]}"#
        }
        return Array(
            #"{"view":{"node":"use","template":"t\#(count - 1)"},"templates":{"t0":{"node":"text","text":"end"}\#(templates.joined())}}"#
                .utf8)
    }

    /// Threads of Apple's systems have 512 KiB.
    @Test func deepestDocumentFitsASmallStack() async throws {
        let limits = ViewLimits(maximumDepth: 1000)
        #expect(throws: ViewError.self) { try ViewDocument(Self.boxes(17), limits: limits) }
        let texts = await withCheckedContinuation { continuation in
            let thread = Thread {
                let tree = try? ViewDocument(Self.boxes(16), limits: limits).tree(of: JSONDocument("{}").root)
                continuation.resume(returning: tree?.texts)
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(texts == ["end"])
    }

    @Test func chainsOfTemplatesCountAsDepth() throws {
        // Each template uses one that is read before it, so that only the sum is too deep.
        func chain(_ count: Int) -> String {
            let templates = (1..<count).map { #","t\#($0)":{"node":"use","template":"t\#($0 - 1)"}"# }.joined()
            return #"{"view":{"node":"box"},"templates":{"t0":{"node":"box"}\#(templates)}}"#
        }
        _ = try view(chain(32))
        let error = #expect(throws: ViewError.self) { try view(chain(33)) }
        #expect(error?.kind == .limit && error?.path == "templates.t32")
    }

    @Test func parametersOfTemplatesAreLimited() throws {
        func template(_ count: Int) -> String {
            let text = (0..<count).map { "{p\($0)}" }.joined()
            return #"{"view":{"node":"box"},"templates":{"t":{"node":"text","text":"\#(text)","label":"{p0}"}}}"#
        }
        #expect(try view(template(64)).problems.isEmpty)
        for count in [65, 66, 1000] {
            let error = #expect(throws: ViewError.self) { try view(template(count)) }
            #expect(error?.kind == .limit && error?.path == "templates.t")
        }
    }

    @Test func problemsAreLimited() throws {
        let many = (0..<500).map { #"{"node":"n\#($0)"}"# }.joined(separator: ",")
        #expect(try view(#"{"node":"box","children":[\#(many)]}"#).problems.count == 100)
    }
}
