#if JavaScript
    import Foundation
    import HTTPTypes
    import Runway
    import RunwayJSON
    import RunwayTesting
    import Testing

    @testable import RunwayScripts

    /// Scripts of verified bundles in JavaScriptCore.
    struct JavaScriptTests {
        private let listing = Listing(items: [Listing.Item(name: "Loft", price: 900), Listing.Item(name: "Barn")])

        @Test func patchReplacesTheNativeResult() async throws {
            let app = try await ScriptedApp.running(
                "patch('rows', 3, listing => listing.items.map(item => ({ title: `${item.name}, ${item.price ?? 0}` })))"
            )
            #expect(app.rows(listing) == [Row(title: "Loft, 900"), Row(title: "Barn, 0")])
            await app.runtime.unload("shop")
            #expect(app.rows(listing) == [Row(title: "Loft"), Row(title: "Barn")])
        }

        @Test func pointOpenedLaterIsPatched() async throws {
            let app = try await ScriptedApp.running("patch('later', 1, n => n + 1)")
            let later = PatchPoint("later", version: 1) { (number: Int) in number }
            app.runtime.open(later)
            #expect(later(1) == 2)
        }

        @Test func otherVersionStaysNative() async throws {
            let app = try await ScriptedApp.running("patch('number', 2, n => 7)")
            #expect(app.number(5) == -5 && app.number.slot.isDirect)
        }

        @Test func failureNamesFileLineAndBundle() async throws {
            let app = try await ScriptedApp.running("patch('number', 1, n => {\n\n  n.title.length })", file: "a/b.js")
            #expect(app.number(5) == -5)
            let lines = try await app.records.lines(2)
            #expect(lines[0] == "shop@1 loaded")
            #expect(lines[1].hasPrefix("shop@1 patch number failed threw: TypeError: undefined is not an object"))
            #expect(lines[1].hasSuffix("(a/b.js:3)"))
        }

        @Test(arguments: [
            "throw new Error('no')", "throw 1", "throw null", "throw { get message() { throw 2 } }", "return 'seven'",
            "return", "return {}", "return () => 7", "return 7n", "return NaN", "return 7.5", "return Symbol()",
            "const a = []; a[0] = a; return a", "return '1'.repeat(5e6)", "return async () => 7",
            "return (function f() { return f() })()", "return '('.match('(')",
            "let a = []; for (let i = 0; i < 2e4; i++) a = [a]; return a",
        ])
        func thirdFailureClosesThePoint(_ body: String) async throws {
            let app = try await ScriptedApp.running(
                "patch('number', 1, n => { \(body) })\npatch('rows', 3, () => [{ title: 'patched' }])")
            for number in 1...5 { #expect(app.number(number) == -number) }
            #expect(app.number.slot.isDirect)
            #expect(app.rows(listing) == [Row(title: "patched")])
            let lines = try await app.records.lines(5)
            #expect(lines.count == 5 && lines.last == "shop@1 patch number closed")
            // The closed point stays closed when the same version is loaded again, and not for the next one.
            await app.runtime.beginGeneration()
            #expect(app.number.slot.isDirect)
            try await app.runtime.load(.test("patch('number', 1, n => 7)", version: "2"))
            #expect(app.number(1) == 7)
        }

        @Test(arguments: [
            "nonsense(", "throw 1", "patch('number', 1)", "patch('number', '1', n => 7)", "on(7, n => 7)",
            "view('a', 7)", "patch('number', 1, n => 7); patch('number', 2, n => 8)",
        ])
        func malformedScriptChangesNothing(_ source: String) async throws {
            let app = try await ScriptedApp.running("patch('number', 1, n => 7)")
            let error = await #expect(throws: ScriptError.self) {
                try await app.runtime.load(.test(source, version: "2"))
            }
            #expect(error?.kind == .threw)
            if source == "nonsense(" { #expect(error?.file == "main.js" && error?.line == 1) }
            #expect(app.number(1) == 7)
        }

        @Test func declarationsAfterLoadingAreRefused() async throws {
            let app = try await ScriptedApp.running("patch('number', 1, n => { on('late', s => s); return 7 })")
            #expect(app.number(1) == -1)
            #expect(try await app.records.lines(2)[1].contains("declared after the script has run"))
        }

        @Test func nextVersionReplacesTheFormerOne() async throws {
            let app = try await ScriptedApp.running("patch('number', 1, n => 7)")
            try await app.runtime.load(.test("patch('rows', 3, () => [])", version: "2"))
            #expect(app.number(1) == -1 && app.rows(listing).isEmpty)
        }

        @Test func twoBundlesCannotPatchOnePoint() async throws {
            let app = try await ScriptedApp.running("patch('number', 1, n => 7)")
            let other = ScriptBundle.test("patch('number', 1, n => 8)", name: "orders")
            let error = await #expect(throws: ScriptError.self) { try await app.runtime.load(other) }
            #expect(error?.message.contains("shop@1 has declared patch number") == true)
            #expect(app.number(1) == 7)
        }

        @Test func handlerChangesTheState() async throws {
            let app = try await ScriptedApp.running(
                "on('coupon.tap', (state, event) => ({ ...state, open: event.count }))\non('broken', () => 7)")
            let state = try json(#"{"title":"Coupon"}"#)
            let document = app.runtime.state(after: "coupon.tap", state, try json(#"{"count":2}"#))
            #expect(document?.bytes == Array(#"{"title":"Coupon","open":2}"#.utf8))
            #expect(app.runtime.state(after: "coupon.hold", state, state) == nil)
            #expect(app.runtime.state(after: "broken", state, state) == nil)
            let former = ["a": 1]
            let latter = app.runtime.state(after: "coupon.tap", former, ["count": 3])
            #expect(latter == ["a": 1, "open": 3])
            let unchanged = app.runtime.state(after: "broken", former, ["count": 3])
            #expect(unchanged == former)
        }

        @Test func viewReturnsATree() async throws {
            let app = try await ScriptedApp.running(
                "view('coupon', state => ({ node: 'text', text: state.title }))\nview('broken', () => [])")
            let state = try json(#"{"title":"Coupon"}"#)
            #expect(app.runtime.view("coupon", of: state)?.root["text"].string == "Coupon")
            #expect(app.runtime.view("other", of: state) == nil)
            for _ in 1...4 { #expect(app.runtime.view("broken", of: state) == nil) }
            #expect(try await app.records.lines(5).last == "shop@1 view broken closed")
        }

        @Test func reformerIsPatchedByItsName() async throws {
            struct TitleReformer: Reformer {
                func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [Row] { [] }
            }
            let app = try ScriptedApp()
            let reformer = app.runtime.patchable(TitleReformer(), version: 2)
            let endpoint = Backend.get("/rentals")
            let data = RawData(Array(#"{"items":[{"name":"Loft"}]}"#.utf8))
            #expect(try reformer.reform(data, from: endpoint) == [])
            try await app.runtime.load(
                .test("patch('TitleReformer', 2, (endpoint, body) => [{ title: body.items[0].name }])"))
            #expect(try reformer.reform(data, from: endpoint) == [Row(title: "Loft")])
            #expect(try reformer.reform(RawData(Array("no JSON".utf8)), from: endpoint) == [])
        }

        @Test func variablesEndWithTheGeneration() async throws {
            let app = try await ScriptedApp.running("let calls = 0; patch('number', 1, n => ++calls)")
            #expect(app.number(1) == 1)
            #expect(app.number(1) == 2)
            await app.runtime.beginGeneration()
            #expect(app.number(1) == 1)
        }

        @Test func consoleIsRedactedAndBounded() async throws {
            let app = try await ScriptedApp.running(
                """
                console.warn('loading')
                patch('number', 1, n => {
                    console.log('password=hunter2', { token: 'abc', n })
                    for (let i = 0; i < 100; i++) console.error('x'.repeat(5000))
                    return 7
                })
                """)
            #expect(app.number(1) == 7)
            let lines = try await app.records.lines(66)
            #expect(lines.count == 66 && lines.contains("shop@1 console warn loading"))
            let text = lines.joined()
            #expect(text.contains("[redacted]") && !text.contains("hunter2") && !text.contains("abc"))
            #expect(lines.allSatisfy { $0.utf8.count < 1_100 })
        }

        @Test func valuesCrossUnchanged() async throws {
            let echo = PatchPoint("echo", version: 1) { (text: String) in text + "!" }
            let app = try await ScriptedApp.running("patch('echo', 1, text => text)")
            app.runtime.open(echo)
            for text in ["", "上海 🏙", "\u{0}\u{1F}\"\\", "\u{2028}", String(repeating: "a", count: 100_000)] {
                #expect(echo(text) == text)
            }
        }
    }

    private enum Backend: APIService {
        static let name = "backend"
        static let environments: [ServiceEnvironment: String] = [.release: "https://backend.example"]
    }
#endif
