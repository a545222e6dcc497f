#if Lua
    import Dispatch
    import Foundation
    import RunwayJSON
    import RunwayTesting
    import Synchronization
    import Testing

    @testable import RunwayScripts

    /// Scripts of verified bundles in Lua.
    struct LuaTests {
        private let listing = Listing(items: [Listing.Item(name: "Loft", price: 900), Listing.Item(name: "Barn")])

        private func app(_ source: String, deadlines: ScriptDeadlines = .long) async throws -> ScriptedApp {
            try await .running(source, file: "main.lua", deadlines: deadlines)
        }

        /// A script whose function `number` runs a body, except for 1, for which it returns 7.
        private func app(running body: String) async throws -> ScriptedApp {
            try await app("patch('number', 1, function(n) if n == 1 then return 7 end \(body) end)", deadlines: .short)
        }

        @Test func patchReplacesTheNativeResult() async throws {
            let app = try await app(
                """
                patch("rows", 3, function(listing)
                    local rows = array {}
                    for _, item in ipairs(listing.items) do
                        table.insert(rows, { title = item.name .. ", " .. (item.price or 0) })
                    end
                    return rows
                end)
                """)
            #expect(app.rows(listing) == [Row(title: "Loft, 900"), Row(title: "Barn, 0")])
            #expect(app.rows(Listing(items: [])) == [])
        }

        @Test func handlersAndViewsAreCalled() async throws {
            let app = try await app(
                """
                on("coupon.tap", function(state, event) state.open = event.count return state end)
                view("coupon", function(state) return { node = "text", text = state.title } end)
                """)
            let state = try json(#"{"title":"Coupon","gone":null}"#)
            let document = app.runtime.state(after: "coupon.tap", state, try json(#"{"count":2}"#))
            #expect(document?.root["open"].int == 2 && document?.root["gone"].isNull == true)
            #expect(app.runtime.view("coupon", of: state)?.root["text"].string == "Coupon")
        }

        @Test func valuesCrossUnchanged() async throws {
            let context = try LuaContext()
            try context.run(
                ScriptFile("a.lua", "patch('p', 1, function(value) return value end)"), until: .distantFuture)
            for text in [
                "null", "true", "false", "9223372036854775807", "-0.25", "0.1", "1e+300", #""""#,
                #""上海 🏙 \" \\ \u0000""#, "[]",
                #"[1,[2,{"a":[]}],null]"#, #"{"a":{"b":"c"}}"#,
            ] {
                let arguments = ScriptArguments([Array(text.utf8)], now: 1, seed: 1)
                let result = try JSONDocument(context.call(0, arguments, until: .distantFuture))
                let (found, expected) = (Self.canonical(result.root), Self.canonical(try json(text)))
                #expect(found == expected)
            }
            let escaped = ScriptArguments([Array(#""\ud83c\udfd9 \u00e9 \/ \n""#.utf8)], now: 1, seed: 1)
            #expect(try JSONDocument(context.call(0, escaped, until: .distantFuture)).root.string == "🏙 é / \n")
        }

        private static func canonical(_ value: JSONValue) -> [UInt8] {
            var writer = JSONWriter(sortsKeys: true)
            writer.value(value)
            return writer.bytes
        }

        @Test(arguments: [
            "error('no')", "error({})", "error()", "return 'seven'", "return", "return {}", "return print",
            "return 7.5",
            "return 0 / 0", "local t = {} t.t = t return t", "return ('x'):rep(5e6)", "return n.title.length",
            "return { [true] = 1 }", "return '\\xff'",
            "local function f() return f() + 1 end return f()", "setmetatable({}, { __gc = print })",
            "local t = {} while true do t[#t + 1] = {} end", "return ('a'):rep(1e6) .. ('('):rep(1e9)",
            "return ('x'):find(('a'):rep(2000) .. '.-.-.-.-b')", "return string.dump(print)",
            "local s = 'x' while true do s = s .. s end",
        ])
        func thirdFailureClosesThePoint(_ body: String) async throws {
            let app = try await app(
                """
                patch('number', 1, function(n) \(body) end)
                patch('rows', 3, function() return { { title = 'patched' } } end)
                """)
            for number in 1...5 { #expect(app.number(number) == -number) }
            #expect(app.number.slot.isDirect)
            #expect(app.rows(listing) == [Row(title: "patched")])
            #expect(try await app.records.lines(5).last == "shop@1 patch number closed")
        }

        @Test func failureNamesFileLineAndBundle() async throws {
            let app = try await app("patch('number', 1, function(n)\n\n  return n.title.length end)")
            #expect(app.number(5) == -5)
            let line = try await app.records.lines(2)[1]
            #expect(line.hasPrefix("shop@1 patch number failed threw: attempt to index a number value"))
            #expect(line.hasSuffix("(main.lua:3)"))
        }

        @Test(arguments: [
            "collectgarbage", "coroutine", "debug", "dofile", "io", "load", "loadfile", "loadstring", "os", "package",
            "rawget", "require", "string.dump", "string.pack", "table.move", "math.randomseed", "_ENV.load", "_G.os",
        ])
        func globalsAreFew(_ name: String) async throws {
            let app = try await app("patch('number', 1, function() return \(name) == nil and 0 or 1 end)")
            #expect(app.number(1) == (name == "rawget" ? 1 : 0))
        }

        @Test func bytecodeIsRefused() async throws {
            let error = await #expect(throws: ScriptError.self) { try await app("\u{1B}Lua") }
            #expect(error?.kind == .threw)
        }

        @Test(arguments: [
            "while true do end", "repeat until false", "::a:: goto a", "for i = 1, math.huge do end",
            "while true do pcall(function() while true do end end) end",
            "while true do pcall(pcall, pcall, function() while true do end end) end",
            "while true do xpcall(function() while true do end end, function() while true do end end) end",
            "local function f() pcall(f) f() end f()", "table.sort({ 2, 1 }, function() while true do end end)",
            "return setmetatable({}, { __index = function() while true do end end }).x",
            "return ('x'):gsub('x', function() while true do end end)",
            "table.insert(setmetatable({}, { __len = function() return 2^53 end }), 1, 1) while true do end",
            "local x <close> = setmetatable({}, { __close = function() while true do end end })",
            "while true do pcall(error, setmetatable({}, { __tostring = function() while true do end end })) end",
            "while true do pcall(function() local t = {} for i = 1, 1e9 do t[i] = i end end) end",
            "for s in ('x'):rep(1000):gmatch('x') do while true do end end",
        ])
        func loopsAreStopped(_ body: String) async throws {
            let app = try await app(running: body)
            try await app.passesItsDeadline()
            try await app.idle()
        }

        @Test(arguments: [
            "('a'):rep(400):find('.-.-.-.-b')", "('a'):rep(30):find(('a?'):rep(30) .. ('a'):rep(30))",
            "('a'):rep(1e5):gsub('a-b', '')", "('a'):rep(1e6):find(('a'):rep(5e5) .. 'b', 1, true)",
            "('('):rep(1e5):match('%b()%b()')", "('a'):rep(1e4):gmatch('[*+-]*a*b')", "('x'):rep(1e9)",
            "(''):rep(1e10)", "(''):find(('['):rep(2e5))", "('^'):rep(1e6):gmatch('^.-b')",
            "('[a' .. ('x'):rep(1e5)):find('^%b[a.-.-.-.-.-]')", "('a'):rep(3e4):find('^(a-)%1b')",
            "table.concat(setmetatable({}, { __index = getmetatable, __metatable = '' }), '', 1, math.maxinteger)",
            "math.max(table.unpack({ ('1'):rep(4e5), ('1'):rep(4e5), ('1'):rep(4e5) }))",
        ])
        func costlyCallsAreRefused(_ call: String) async throws {
            let app = try await app("patch('number', 1, function(n) return #(tostring(\(call))) end)")
            #expect(app.number(1) == -1)
            let error = try await app.records.lines(2)[1]
            #expect(error.contains(/the .* (is|are) too (long|costly)/))
        }

        @Test func eachCallLooksAtTheClock() async throws {
            let context = try LuaContext()
            try context.run(ScriptFile("a.lua", "patch('p', 1, function() end)"), until: .distantFuture)
            let error = #expect(throws: ScriptError.self) {
                try context.call(0, ScriptArguments([], now: 0, seed: 1), until: DispatchTime(uptimeNanoseconds: 1))
            }
            #expect(error?.kind == .deadlinePassed)
        }

        @Test func ordinaryPatternsAreAllowed() async throws {
            let app = try await app(
                """
                patch('number', 1, function(n)
                    local year, month = ("2026-11-29"):match("^(%d+)-(%d+)")
                    local words = {}
                    for word in ("The quick brown fox"):gmatch("%a+") do words[#words + 1] = word:lower() end
                    table.sort(words, function(a, b) return a > b end)
                    local text = table.concat(setmetatable(words, {}), " "):gsub("^%s*(.-)%s*$", "%1")
                    return text == "the quick fox brown" and tonumber(year) + tonumber(month) or 0
                end)
                """)
            #expect(app.number(1) == 2037)
        }

        @Test func sortIsStableAndComplete() async throws {
            let app = try await app(
                """
                patch('number', 1, function(n)
                    local list = {}
                    for i = 1, 777 do list[i] = { math.random(50), i } end
                    table.sort(list, function(a, b) return a[1] < b[1] end)
                    for i = 2, 777 do
                        local a, b = list[i - 1], list[i]
                        if a[1] > b[1] or a[1] == b[1] and a[2] >= b[2] then return 0 end
                    end
                    return table.remove(list, 1)[1] == list[1][1] and #list or -#list
                end)
                """)
            #expect(app.number(1).magnitude == 776)
        }

        @Test func sameSeedHasTheSameResult() async throws {
            let context = try LuaContext()
            try context.run(
                ScriptFile("a.lua", "patch('p', 1, function() return { clock(), math.random(), math.random(9) } end)"),
                until: .distantFuture)
            let arguments = ScriptArguments([], now: 1_700_000_000_000, seed: 7)
            let first = try context.call(0, arguments, until: .distantFuture)
            #expect(try context.call(0, arguments, until: .distantFuture) == first)
            #expect(first.starts(with: Array("[1700000000000,".utf8)))
        }

        @Test func largeResultIsRefusedOnTheMainThread() async throws {
            let app = try await app("view('big', function(n) return { text = ('x'):rep(n) } end)")
            let script = try #require(app.runtime.state.withLock { $0.scripts["shop"] })
            func isAllowed(_ count: Int, isMain: Bool) -> Bool {
                let key = PointKey(kind: .view, name: "big")
                return app.runtime.call(key, of: script, [Array("\(count)".utf8)], isMain: isMain) != nil
            }
            #expect(isAllowed(65_000, isMain: true))
            #expect(!isAllowed(66_000, isMain: true))
            #expect(isAllowed(66_000, isMain: false))
        }

        @Test func consoleIsRecorded() async throws {
            let app = try await app(
                "print('loading', nil) patch('number', 1, function() console.warn('n', 1) return 7 end)")
            #expect(app.number(1) == 7)
            let lines = try await app.records.lines(3)
            #expect(lines.contains("shop@1 console log loading nil"))
            #expect(lines.contains("shop@1 patch number console warn n 1"))
        }
    }
#endif
