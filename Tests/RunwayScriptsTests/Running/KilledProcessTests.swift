#if JavaScript && Lua && (os(Linux) || os(macOS))
    import Dispatch
    import Foundation
    import Testing

    @testable import RunwayScripts

    struct KilledProcessTests {
        @Test(arguments: [
            (
                file: "main.js", source: "patch('number', 1, n => { while (true) {} })",
                next: "patch('number', 1, n => 7)"
            ),
            (
                file: "main.lua", source: "patch('number', 1, function() while true do end end)",
                next: "patch('number', 1, function() return 7 end)"
            ),
        ])
        func killInsideAScriptCondemnsIt(file: String, source: String, next: String) async throws {
            let folder = try MarkerFolder()
            let path = folder.marker.path
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [path = path as String, source = source as String, file = file as String] in
                let app = try ScriptedApp(at: URL(filePath: path), deadlines: .long)
                try await app.runtime.load(.test(source, file: file))
                DispatchQueue.global().async {
                    while (try? Data(contentsOf: URL(filePath: path)))?[MarkerContent.runningOffset] != 1 {}
                    kill(getpid(), SIGKILL)
                }
                _ = app.number(5)
            }
            try await folder.expectCondemned(
                .test(source, file: file), next: .test(next, version: "2", file: file))
        }
    }
#endif
