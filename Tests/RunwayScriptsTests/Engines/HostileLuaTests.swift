#if Lua
    import Dispatch
    import Foundation
    import RunwayTesting
    import Testing

    @testable import RunwayScripts

    /// Scripts in Lua that do not end while they are loaded, and that harm what they can reach.
    struct HostileLuaTests {
        private static let seven = "patch('number', 1, function() return 7 end)"

        @Test func loopWhileLoadingIsStopped() async throws {
            var deadlines = ScriptDeadlines.long
            deadlines.loading = .milliseconds(300)
            let app = try ScriptedApp(deadlines: deadlines)
            let bundle = ScriptBundle.test("while true do pcall(error) end", file: "main.lua")
            let error = await #expect(throws: ScriptError.self) { try await app.runtime.load(bundle) }
            #expect(error?.kind == .deadlinePassed)
            try await waitUntil {
                let next = ScriptBundle.test(Self.seven, version: "2", file: "main.lua")
                do { try await app.runtime.load(next) } catch { return false }
                return true
            }
            #expect(app.number(1) == 7)
        }

        @Test func changedGlobalsHarmOnlyTheirScript() async throws {
            let vandal = """
                local patch, array, globals = patch, array, _G
                local function loop() while true do end end
                for _, library in pairs({ string, table, math, utf8, console }) do
                    for name in pairs(library) do library[name] = loop end
                end
                for name in next, globals do globals[name] = loop end
                patch('rows', 3, function() return array {} end)
                """
            let app = try await ScriptedApp.running(vandal, file: "main.lua", deadlines: .short)
            let next = "patch('number', 1, function(n) return table.unpack({ n + 6 }) end)"
            try await app.runtime.load(.test(next, name: "orders", file: "main.lua"))
            let listing = Listing(items: [Listing.Item(name: "Loft")])
            #expect(app.rows(listing) == [Row(title: "Loft")])
            #expect(listing.items == [Listing.Item(name: "Loft")])
            try await app.idle()
        }

        /// A finalizer would run inside the collector, where no deadline is looked at, and when the interpreter ends.
        @Test func finalizersNeverRun() async throws {
            let app = try await ScriptedApp.running(
                """
                local made = {}
                patch('number', 1, function(n)
                    for i = 1, 1e4 do
                        local meta = {}
                        made[i % 9] = setmetatable({}, meta)
                        meta.__gc = function() while true do end end
                        assert(not pcall(setmetatable, {}, meta))
                    end
                    return 7
                end)
                """, file: "main.lua")
            #expect(app.number(1) == 7)
            await app.runtime.unload("shop")
            try await app.runtime.load(.test(Self.seven, version: "2", file: "main.lua"))
            #expect(app.number(1) == 7)
        }
    }
#endif
