// On Apple's systems nothing stops a loop.
#if JavaScript && os(Linux)
    import Dispatch
    import Foundation
    import RunwayJSON
    import RunwayTesting
    import Synchronization
    import Testing

    @testable import RunwayScripts

    /// Scripts that do not end, that take what they can, and that look for the app.
    struct HostileJavaScriptTests {
        private static let rest = "\npatch('rows', 3, () => { throw 1 })"

        @Test(arguments: [
            "Array", "Atomics", "Function", "Promise", "SharedArrayBuffer", "WebAssembly", "WeakRef", "eval", "fetch",
            "gc", "load", "print", "process", "queueMicrotask", "require", "setTimeout", "FinalizationRegistry", "$vm",
            "ShadowRealm", "XMLHttpRequest", "Intl.DateTimeFormat",
        ])
        func globalsAreFew(_ name: String) async throws {
            let app = try await ScriptedApp.running(
                "patch('number', 1, n => ['\(name)' in globalThis, typeof \(name) != 'undefined'].filter(x => x).length)"
            )
            #expect(app.number(1) == (name == "Array" ? 2 : 0))
        }

        @Test(arguments: [
            "(() => 1).constructor", "(function* () {}).constructor", "(async () => 1).constructor",
            "(async function* () {}).constructor", "patch.constructor", "console.log.constructor", "Date.constructor",
            "Date.prototype.constructor.constructor", "Object.getPrototypeOf(Date).constructor",
        ])
        func textIsNeverRunAsCode(_ constructor: String) async throws {
            let app = try await ScriptedApp.running("patch('number', 1, n => \(constructor)('return 7')())")
            #expect(app.number(1) == -1)
            #expect(try await app.records.lines(2)[1].contains("threw: TypeError"))
        }

        @Test(arguments: [
            "while (true) {}", "for (;;) try { for (;;) {} } catch {} finally { continue }",
            "(function* () { while (true) yield 1 })().forEach(() => {})", "throw { get line() { while (true) {} } }",
            "return { toJSON() { while (true) {} } }", "throw { toString() { while (true) {} } }",
            "[1, 2].sort(() => { while (true) {} })", "return new Proxy({}, { ownKeys() { while (true) {} } })",
            "'a'.replace(/a/, () => { while (true) {} })",
            "console.log({ toJSON() { while (true) {} } })",
            "for (;;) { try { JSON.parse('[') } catch {} }", "(function f() { try { f() } catch { f() } })()",
            "(function f() { try { f() } finally { f() } })()",
            "(function f() { 'a'.replace(/a/, () => { try { f() } catch { f() } }) })()",
            "let s = ''; for (;;) s = s.length > 1e6 ? '' : s + 'ab'",
        ])
        func loopsAreStopped(_ body: String) async throws {
            let app = try await ScriptedApp.running(
                "let calls = 0; patch('number', 1, n => { if (n == 1) return 7; \(body) })", deadlines: .short)
            try await app.passesItsDeadline()
            try await app.idle()
        }

        /// Loops that run often are compiled, and are no less stopped for that.
        @Test func compiledLoopIsStoppedEachTime() async throws {
            let app = try await ScriptedApp.running("patch('number', 1, n => { while (true) {} })")
            let script = try #require(app.runtime.state.withLock { $0.scripts["shop"] })
            let arguments = ScriptArguments([Array("1".utf8)], now: 1, seed: 1)
            for _ in 1...40 {
                let error = #expect(throws: ScriptError.self) {
                    try app.runtime.thread.perform(for: script.owner, within: .seconds(60)) {
                        (contexts, _) throws(ScriptError) in
                        try contexts[script.context]?.call(0, arguments, until: .now() + .milliseconds(4)) ?? []
                    }
                }
                #expect(error?.kind == .deadlinePassed)
            }
        }

        /// The engine checks each 4 ms of the processor's time, so that a script is stopped that much after its
        /// deadline at most.
        @Test(arguments: [(limit: 0, checkCounts: 1...1), (limit: 40, checkCounts: 1...11)])
        func firstCheckAfterTheDeadlineStops(limit: Int, checkCounts: ClosedRange<Int>) throws {
            let context = try JavaScriptContext()
            try context.run(ScriptFile("a.js", "patch('p', 1, () => { while (true) {} })"), until: .distantFuture)
            let error = #expect(throws: ScriptError.self) {
                try context.call(0, ScriptArguments([], now: 1, seed: 1), until: .now() + .milliseconds(limit))
            }
            #expect(error?.kind == .deadlinePassed)
            #expect(checkCounts.contains(context.watch.pointee.checkCount))
        }

        @Test func loopWhileLoadingIsStopped() async throws {
            var deadlines = ScriptDeadlines.long
            deadlines.loading = .milliseconds(300)
            let app = try ScriptedApp(deadlines: deadlines)
            let error = await #expect(throws: ScriptError.self) { try await app.runtime.load(.test("while (true) {}")) }
            #expect(error?.kind == .deadlinePassed)
            try await waitUntil {
                do { try await app.runtime.load(.test("patch('number', 1, n => 7)", version: "2")) } catch {
                    return false
                }
                return true
            }
            #expect(app.number(1) == 7)
        }

        @Test func othersAreNativeUntilALoopEnds() async throws {
            let app = try await ScriptedApp.running(
                "patch('number', 1, n => { while (n != 1) {}; return 7 }); patch('rows', 3, () => [])")
            let script = try #require(app.runtime.state.withLock { $0.scripts["shop"] })
            let end = DispatchSemaphore(value: 0)
            let error = #expect(throws: ScriptError.self) {
                try app.runtime.thread.perform(for: script.owner, within: .zero, isPatient: true) { contexts, _ in
                    // A script that loops until the test ends it.
                    let arguments = ScriptArguments([Array("5".utf8)], now: 1, seed: 1)
                    repeat {
                        _ = try? contexts[script.context]?.call(0, arguments, until: .now() + .milliseconds(4))
                    } while end.wait(timeout: .now()) == .timedOut
                    return []
                }
            }
            #expect(error?.kind == .deadlinePassed)
            let listing = Listing(items: [Listing.Item(name: "Loft")])
            // Calls that could not begin are nobody's failure, however many they are.
            for _ in 1...4 { #expect(app.rows(listing) == [Row(title: "Loft")]) }
            end.signal()
            try await app.idle()
            #expect(app.rows(listing) == [])
            let records = app.records
            func kinds() -> [ScriptError.Kind?] {
                records.all.filter { $0.function == "patch rows" }.map(\.error?.kind)
            }
            try await waitUntil { kinds().count >= 4 }
            #expect(kinds() == [.busy, .busy, .busy, .busy])
        }

        @Test func changedPrototypesHarmOnlyTheirScript() async throws {
            let vandal = """
                const { ownKeys, getPrototypeOf } = Reflect, loop = () => { throw 1 }
                const targets = [Array, String, Object, Map, Set, Number].map(type => type.prototype)
                targets[6] = getPrototypeOf(patch)
                const keys = targets.map(ownKeys)
                for (let i = 0; i < 7; i++) {
                    for (let j = 0; j < keys[i].length; j++) try { targets[i][keys[i][j]] = loop } catch {}
                }
                JSON.stringify = JSON.parse = Reflect.apply = String = Math.random = () => '9'
                Object.defineProperty(Array.prototype, '0', { set() {}, get() { return 9 } })
                Object.defineProperty(Object.prototype, 'toJSON', { value: () => 9 })
                patch('rows', 3, () => [])
                """
            let app = try await ScriptedApp.running(
                "patch('number', 1, n => JSON.parse(`[${[3, 4].map(x => x + n)}]`)[0] + 3)")
            let listing = Listing(items: [Listing.Item(name: "Loft")])
            try await app.runtime.load(.test(vandal, name: "vandal"))
            // It runs, and its own `toJSON` makes 9 of its result.
            #expect(app.rows(listing) == [Row(title: "Loft")])
            #expect(try await app.records.lines(3)[2].contains("vandal@1 patch rows failed mismatched"))
            #expect(app.number(1) == 7)
            try await app.runtime.load(.test("view('rows', s => ({ rows: s.map(x => x + 1) }))", name: "later"))
            let tree = try #require(app.runtime.view("rows", of: try json("[1, 2]")))
            #expect(tree.root["rows"].elements.map(\.double) == [2, 3])
            await app.runtime.unload("vandal")
            #expect(app.rows(listing) == [Row(title: "Loft")])
            try await app.runtime.load(.test("patch('rows', 3, l => l.items.map(x => ({ title: x.name + 1 })))"))
            #expect(app.rows(listing) == [Row(title: "Loft1")])
        }

        @Test func sameClockAndSeedHaveTheSameResult() async throws {
            let context = try JavaScriptContext()
            try context.run(
                ScriptFile(
                    "a.js",
                    "patch('p', 1, () => [Date.now(), new Date().getTime(), Math.random(), Math.random(), +new Date(5)])"
                ),
                until: .distantFuture)
            let arguments = ScriptArguments([], now: 1_700_000_000_000, seed: 4_000_000_000)
            let first = try context.call(0, arguments, until: .distantFuture)
            #expect(try context.call(0, arguments, until: .distantFuture) == first)
            let values = try JSONDocument(first).root.elements.map { $0.double ?? -1 }
            #expect(values[0] == 1_700_000_000_000 && values[1] == values[0] && values[4] == 5)
            #expect((0..<1).contains(values[2]) && (0..<1).contains(values[3]) && values[2] != values[3])
        }

        /// What the engine does not stop: a regular expression that takes years, and jobs that add jobs.
        @Test(arguments: [
            "return /^(a+)+$/.test('a'.repeat(60) + '!') ? 1 : 2", "(async function () { for (;;) await 0 })()",
        ])
        func scriptThatHangsIsCondemned(_ body: String) async throws {
            let folder = try MarkerFolder()
            let path = folder.marker.path
            let source = "patch('number', 1, n => { \(body) }); patch('rows', 3, () => [])"
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, source = source as String] in
                let app = try ScriptedApp(at: URL(filePath: path), deadlines: .short)
                try await app.runtime.load(.test(source))
                // On a busy machine a call may end before its script begins.
                try await waitUntil {
                    #expect(app.number(5) == -5)
                    return app.records.all.contains { $0.kind == .condemned }
                }
                // Scripts are off: native results, at once.
                let listing = Listing(items: [Listing.Item(name: "Loft")])
                for _ in 1...1_000 { #expect(app.rows(listing) == [Row(title: "Loft")]) }
                let error = await #expect(throws: ScriptError.self) {
                    try await app.runtime.load(.test("patch('rows', 3, () => [])", name: "other"))
                }
                #expect(error?.kind == .off)
                kill(getpid(), SIGKILL)
            }
            try await folder.expectCondemned(.test(source), next: .test("patch('number', 1, n => 7)", version: "2"))
        }

        @Test func scriptThatAllocatesUntilTheEndIsCondemned() async throws {
            let folder = try MarkerFolder()
            let path = folder.marker.path
            let source = "patch('number', 1, n => { let list = null; for (;;) list = { list } })"
            await #expect(processExitsWith: .failure) { [path = path as String, source = source as String] in
                let app = try ScriptedApp(at: URL(filePath: path), deadlines: .long)
                try await app.runtime.load(.test(source))
                try HostileJavaScriptTests.limitMemory(toFurther: 256 << 20)
                _ = app.number(5)
                // Not reached: the engine ends the process.
                exit(0)
            }
            try await folder.expectCondemned(.test(source), next: .test("patch('number', 1, n => 7)", version: "2"))
        }

        private static func limitMemory(toFurther count: UInt) throws {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).prefix { $0 != " " }
            var limit = rlimit()
            limit.rlim_cur = try #require(UInt(pages)) * UInt(getpagesize()) + count
            limit.rlim_max = limit.rlim_cur
            #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit) == 0)
        }
    }
#endif
