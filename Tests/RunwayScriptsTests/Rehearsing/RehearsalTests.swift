#if JavaScript && Lua
    import Foundation
    import HTTPTypes
    import Runway
    import RunwayBundles
    import RunwayJSON
    import RunwayTestServer
    import RunwayTesting
    import Testing

    @testable import RunwayScripts

    /// Calls that an app has recorded, through right and wrong patches.
    struct RehearsalTests {
        private struct Broken: Error {}

        /// Scripts in JavaScript and in Lua, by their outcome.
        private static let right = [
            "main.js": "patch('rows', 3, l => { l.extra = 1; return l.items.map(i => ({ title: i.name })) })",
            "main.lua": """
            patch("rows", 3, function(l)
                local rows = array {}
                for i, item in ipairs(l.items) do rows[i] = { title = item.name } end
                l.items = nil
                return rows
            end)
            """,
        ]
        private static let wrong = [
            "main.js": "patch('rows', 3, l => l.items.map((i, n) => ({ title: n == 1 ? i.name + '!' : i.name })))",
            "main.lua": """
            patch("rows", 3, function(l)
                local rows = array {}
                for i, item in ipairs(l.items) do rows[i] = { title = item.name .. (i == 2 and "!" or "") } end
                return rows
            end)
            """,
        ]

        private let folder: MarkerFolder
        private var file: URL { folder.marker.appendingPathExtension("calls") }

        init() throws { folder = try MarkerFolder() }

        /// What an app without scripts records of two lists.
        private func records() async throws -> RecordedCalls {
            let app = try ScriptRuntime(marker: folder.marker, build: "412", recordedCalls: file)
            let rows = PatchPoint("rows", version: 3) { (listing: Listing) in listing.items.map { Row(title: $0.name) }
            }
            app.open(rows)
            for names in [["Loft", "Barn"], []] {
                #expect(rows(Listing(items: names.map { Listing.Item(name: $0) })).count == names.count)
            }
            await app.flushRecordedCalls()
            return RecordedCalls(Array(try Data(contentsOf: file)))
        }

        private func line(_ point: String, _ arguments: String, _ outcome: String) -> String {
            #"{"point":"\#(point)","version":1,"now":1780315200000,"arguments":[\#(arguments)],\#(outcome)}"# + "\n"
        }

        /// Rehearses lines of a file with one script, in an app that has the points `rows` and `number`.
        private func rehearse(
            _ lines: String..., with source: String, deadlines: ScriptDeadlines = .long
        ) async throws -> PatchRehearsal {
            let app = try await ScriptedApp.running(source, deadlines: deadlines)
            return try await app.runtime.rehearse(RecordedCalls(Array(lines.joined().utf8)))
        }

        @Test(arguments: ["main.js", "main.lua"])
        func rightPatchHasTheNativeResults(_ file: String) async throws {
            let records = try await records()
            let app = try await ScriptedApp.running(try #require(Self.right[file]), file: file)
            let rehearsal = try await app.runtime.rehearse(records)
            #expect(rehearsal.isEqual && rehearsal.calls.count == 2 && rehearsal.untestedPatches == [], "\(rehearsal)")
            #expect(rehearsal.calls.allSatisfy { $0.nativeTime != nil && $0.patchedTime != nil })
        }

        @Test(arguments: ["main.js", "main.lua"])
        func wrongPatchDiffersAtItsPath(_ file: String) async throws {
            let records = try await records()
            let app = try await ScriptedApp.running(try #require(Self.wrong[file]), file: file)
            let rehearsal = try await app.runtime.rehearse(records)
            #expect(!rehearsal.isEqual)
            try #require(rehearsal.calls.map(\.kind) == [.different, .equal])
            let expected = [PatchRehearsal.Difference(path: "[1].title", expected: "\"Barn\"", actual: "\"Barn!\"")]
            #expect(rehearsal.calls[0].differences == expected)
            #expect("\(rehearsal)".contains(#"line 1, rows 3: [1].title is "Barn!" instead of "Barn""#), "\(rehearsal)")
        }

        @Test func closedPointHasTheRecordedResult() async throws {
            let rehearsal = try await rehearse(
                line("closed", "1", #""result":2"#), line("closed", "2", #""result":{"a":4}"#),
                with: "patch('closed', 1, n => 2 * n)")
            try #require(rehearsal.calls.map(\.kind) == [.equal, .different])
            #expect(rehearsal.calls[1].differences.map(\.expected) == [#"{"a":4}"#])
            #expect(rehearsal.calls.allSatisfy { $0.nativeTime == nil } && !"\(rehearsal)".contains("NATIVE"))
        }

        @Test func nativeFunctionComesBeforeTheRecordedResult() async throws {
            let rehearsal = try await rehearse(line("number", "5", #""result":7"#), with: "patch('number', 1, n => -n)")
            #expect(rehearsal.isEqual && "\(rehearsal)".contains("NATIVE"))
        }

        @Test func maskedArgumentsHaveTheRecordedResult() async throws {
            let rehearsal = try await rehearse(
                line("number", #""[redacted]""#, #""result":7"#), with: "patch('number', 1, n => 7)")
            #expect(rehearsal.isEqual && rehearsal.calls[0].nativeTime == nil)
        }

        @Test func failuresHavePlacesAndCloseNoPoint() async throws {
            let lines = [1, 3, 4, 5].map { line("number", "\($0)", #""result":-\#($0)"#) }.joined()
            let app = try await ScriptedApp.running(
                """
                patch('number', 1, n => {
                    if (n == 1) throw new Error('token=abc no')
                    if (n == 3) return 'three'
                    if (n == 4) return
                    return -n
                })
                """)
            let rehearsal = try await app.runtime.rehearse(RecordedCalls(Array(lines.utf8)))
            try #require(rehearsal.calls.map(\.error?.kind) == [.threw, .mismatched, .mismatched, nil])
            let error = try #require(rehearsal.calls[0].error)
            #expect(error.file == "main.js" && error.line == 2 && !error.message.contains("abc"))
            #expect(rehearsal.calls[3].kind == .equal && !rehearsal.isEqual && !app.number.slot.isDirect)
            let point = try #require(rehearsal.points.first)
            #expect((point.inputs, point.equal, point.threw, point.late, point.mismatched) == (4, 1, 1, 0, 2))
        }

        @Test func loopIsLate() async throws {
            let app = try await ScriptedApp.running("patch('number', 1, n => { while (true) {} })", deadlines: .short)
            let records = RecordedCalls(Array(line("number", "2", #""result":-2"#).utf8))
            // On a busy machine a call may end before its script begins.
            try await waitUntil("the deadline") {
                let rehearsal = try await app.runtime.rehearse(records)
                return rehearsal.calls[0].error?.kind == .deadlinePassed && rehearsal.points.first?.late == 1
            }
        }

        @Test func errorsAreComparedWithValues() async throws {
            let point = PatchPoint("fails", version: 1) { (_: Int) throws(Broken) -> Int in throw Broken() }
            let app = try await ScriptedApp.running("patch('fails', 1, n => n)\npatch('other', 1, n => n)")
            app.runtime.open(point)
            let lines = line("fails", "1", #""threw":"Broken""#) + line("other", "1", #""threw":"Other""#)
            let rehearsal = try await app.runtime.rehearse(RecordedCalls(Array(lines.utf8)))
            #expect(rehearsal.calls.map(\.differences.first?.expected) == ["the error Broken", "the error Other"])
        }

        @Test func scriptThatThrowsEqualsANativeError() async throws {
            let rehearsal = try await rehearse(
                line("other", "1", #""threw":"Other""#), line("other", "2", #""result":2"#),
                with: "patch('other', 1, n => { throw 1 })")
            #expect(rehearsal.calls.map(\.kind) == [.equal, .failed])
        }

        @Test func nativeResultContainsNoOtherPatch() async throws {
            let app = try await ScriptedApp.running("patch('outer', 1, n => -n)\npatch('number', 1, n => 7)")
            let number = app.number
            app.runtime.open(PatchPoint("outer", version: 1) { (n: Int) in number(n) })
            let records = RecordedCalls(Array(line("outer", "5", #""result":-5"#).utf8))
            let rehearsal = try await app.runtime.rehearse(records)
            #expect(rehearsal.isEqual && number(5) == 7, "\(rehearsal)")
        }

        @Test func patchesWithoutCallsAreNamed() async throws {
            let rehearsal = try await rehearse(
                line("number", "1", #""result":-1"#), line("absent", "1", #""result":1"#),
                with: "patch('number', 2, n => n)\npatch('rows', 3, l => [])")
            #expect(rehearsal.calls.map(\.kind) == [.notPatched, .notPatched] && !rehearsal.isEqual)
            #expect(rehearsal.untestedPatches == ["number 2", "rows 3"])
        }

        @Test func timeAndRandomNumbersAreRepeated() async throws {
            let once = line("a", "1", #""result":1780315200000"#) + line("b", "1", #""result":0"#)
            let source = "patch('a', 1, () => Date.now())\npatch('b', 1, () => Math.random())"
            let one = try await rehearse(once, with: source), other = try await rehearse(once, with: source)
            #expect(one.calls.map(\.kind) == [.equal, .different])
            #expect(one.calls[1].differences == other.calls[1].differences)
        }

        @Test func reformerIsRehearsedWithItsEndpoint() async throws {
            struct TitleReformer: Reformer {
                func reform(_ rawData: RawData, from endpoint: any Endpoint) throws -> [Row] {
                    rawData.json["items"].elements.map { Row(title: $0["name"].string ?? "") }
                }
            }
            let endpoint = Backend.get("/rentals")
            do {
                let app = try ScriptRuntime(marker: folder.marker, build: "412", recordedCalls: file)
                let reformer = app.patchable(TitleReformer(), version: 2)
                _ = try reformer.reform(RawData(Array(#"{"items":[{"name":"Loft"}]}"#.utf8)), from: endpoint)
                await app.flushRecordedCalls()
            }
            let records = RecordedCalls(Array(try Data(contentsOf: file)))
            let app = try await ScriptedApp.running(
                "patch('TitleReformer', 2, (endpoint, body) => body.items.map(item => ({ title: item.name })))")
            _ = app.runtime.patchable(TitleReformer(), version: 2)
            let recorded = try await app.runtime.rehearse(records)
            let native = try await app.runtime.rehearse(records, endpoints: [endpoint])
            #expect(recorded.isEqual && recorded.calls[0].nativeTime == nil)
            #expect(native.isEqual && native.calls[0].nativeTime != nil)
        }

        @Test func callsOfScriptsAreNotRecorded() async throws {
            let app = try ScriptRuntime(marker: folder.marker, build: "412", recordedCalls: file)
            let number = PatchPoint("number", version: 1) { (number: Int) in -number }
            app.open(number)
            try await app.load(.test("patch('number', 1, n => { if (n == 2) throw 1; return 7 })"))
            #expect(number(1) == 7 && number(2) == -2)
            await app.unload("shop")
            #expect(number(3) == -3 && !number.slot.isDirect)
            await app.flushRecordedCalls()
            #expect(
                RecordedCalls(Array(try Data(contentsOf: file))).calls.map(\.result) == [
                    .returned(Array("-2".utf8)), .returned(Array("-3".utf8)),
                ])
        }

        @Test func rehearsalIsCancelled() async throws {
            let app = try await ScriptedApp.running("patch('number', 1, n => -n)")
            let records = RecordedCalls(Array(line("number", "1", #""result":-1"#).utf8))
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await app.runtime.rehearse(records)
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }

        /// `Scripts/engines.sh` links the command with the engines, and names it.
        private static let tool = ProcessInfo.processInfo.environment["RUNWAY_WITH_ENGINES"]

        @Test(
            .enabled(if: tool != nil),
            arguments: [
                ("main.js", right, 0, "rows         3       2      2"),
                ("main.lua", right, 0, "rows         3       2      2"),
                ("main.js", wrong, 1, #"line 1, rows 3: [1].title is "Barn!" instead of "Barn""#),
                ("main.lua", wrong, 1, #"line 1, rows 3: [1].title is "Barn!" instead of "Barn""#),
                ("main.js", ["main.js": "nonsense("], 1, ""),
                ("main.js", ["main.js": "on('a', s => s)"], 1, "not patched"),
            ])
        func commandRehearses(_ script: String, _ sources: [String: String], _ status: Int32, _ text: String)
            async throws
        {
            _ = try await records()
            let bundle = folder.marker.deletingLastPathComponent().appending(path: "bundle")
            let scripts = bundle.appending(path: "scripts")
            try FileManager.default.createDirectory(at: scripts, withIntermediateDirectories: true)
            try Data(try #require(sources[script]).utf8).write(to: scripts.appending(path: script))
            for options in [[], ["--json"]] {
                let (process, output) = (Process(), folder.marker.appendingPathExtension("output"))
                try Data().write(to: output)
                process.executableURL = URL(filePath: try #require(Self.tool))
                process.arguments = ["patch", "rehearse", "--bundle", bundle.path, "--records", file.path] + options
                process.standardOutput = try FileHandle(forWritingTo: output)
                #expect(try await process.runToItsEnd() == status)
                let bytes = Array(try Data(contentsOf: output))
                let printed = String(decoding: bytes, as: UTF8.self)
                // A script that can't be loaded is an error on the other stream.
                guard !text.isEmpty else {
                    #expect(printed.isEmpty)
                    continue
                }
                if options.isEmpty {
                    #expect(printed.contains(text), "\(printed)")
                } else {
                    #expect(try JSONDocument(bytes).root["points"][0]["inputs"].int == 2)
                }
            }
        }
    }

    private enum Backend: APIService {
        static let name = "backend"
        static let environments: [ServiceEnvironment: String] = [.release: "https://backend.example"]
    }
#endif
