import Dispatch
import Testing

@testable import RunwayScripts

struct ScriptThreadTests {
    private final class Context: ScriptContext {
        func run(_ file: ScriptFile, until deadline: DispatchTime) throws(ScriptError) {}
        func declarations() throws(ScriptError) -> [UInt8] { [] }
        /// Returns its deadline.
        func call(_: Int, _: ScriptArguments, until deadline: DispatchTime) throws(ScriptError) -> [UInt8] {
            Array("\(deadline.uptimeNanoseconds)".utf8)
        }
        func takeConsole() -> [UInt8]? { nil }
    }

    private let owner = ScriptThread.Owner(marker: 1, bundle: "shop@1")
    private let folder: MarkerFolder
    private let thread: ScriptThread

    init() throws {
        folder = try MarkerFolder()
        thread = ScriptThread(marker: try MarkerFile(folder.marker)) { _ in }
    }

    /// Begins a call that runs until the semaphore is signalled, and leaves it overdue.
    private func begin() -> DispatchSemaphore {
        let end = DispatchSemaphore(value: 0)
        let error = #expect(throws: ScriptError.self) {
            try thread.perform(for: owner, within: .milliseconds(20), isPatient: true) { contexts, _ in
                contexts[1] = Context()
                end.wait()
                return []
            }
        }
        #expect(error?.kind == .deadlinePassed)
        return end
    }

    @Test func contextDiscardedWhileOverdueIsFreedLater() throws {
        defer { thread.close() }
        let end = begin()
        #expect(!thread.discard(1, within: .zero))
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10)) { end.signal() }
        let count = try thread.perform(for: owner, within: .seconds(60), isPatient: true) { contexts, _ in
            [UInt8(contexts.count)]
        }
        #expect(count == [0])
    }

    @Test func scriptReceivesTheDeadlineOfItsCall() throws {
        defer { thread.close() }
        let before = DispatchTime.now().uptimeNanoseconds
        let bytes = try thread.perform(for: owner, within: .seconds(60)) { _, deadline in
            Array("\(deadline.uptimeNanoseconds)".utf8)
        }
        let after = DispatchTime.now().uptimeNanoseconds
        let deadline = try #require(UInt64(String(decoding: bytes, as: UTF8.self)))
        #expect((before...after).contains(deadline - 60_000_000_000))
    }

    @Test func callersOnTheMainThreadWaitLess() throws {
        defer { thread.close() }
        let defaults = ScriptDeadlines()
        #expect(defaults.main == .milliseconds(8) && defaults.elsewhere == .milliseconds(200))
        let folder = try MarkerFolder()
        let deadlines = ScriptDeadlines(main: .seconds(60), elsewhere: .seconds(90), loading: .seconds(60))
        let runtime = try ScriptRuntime(marker: folder.marker, build: "412", deadlines: deadlines) { _ in }
        _ = try runtime.thread.perform(for: owner, within: .seconds(60)) { contexts, _ in
            contexts[1] = Context()
            return []
        }
        let key = PointKey(kind: .patch, name: "rows")
        let script = ScriptRuntime.Script(
            bundle: .test(""), owner: owner, context: 1, functions: [key: .init(index: 0, version: 1)])
        for (isMain, limit) in [(true, 60_000_000_000 as UInt64), (false, 90_000_000_000)] {
            let before = DispatchTime.now().uptimeNanoseconds
            let bytes = try #require(runtime.call(key, of: script, [], isMain: isMain))
            let deadline = try #require(UInt64(String(decoding: bytes, as: UTF8.self)))
            #expect((before...DispatchTime.now().uptimeNanoseconds).contains(deadline - limit))
        }
    }

    @Test func timeOfOthersIsNobodysFailure() {
        defer { thread.close() }
        let (thread, owner) = (thread, owner)
        let (begun, end) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        DispatchQueue.global().async {
            _ = try? thread.perform(for: owner, within: .seconds(60)) { _, _ in
                begun.signal()
                end.wait()
                return []
            }
        }
        begun.wait()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(180)) { end.signal() }
        let error = #expect(throws: ScriptError.self) {
            try thread.perform(for: owner, within: .milliseconds(200)) { _, deadline throws(ScriptError) in
                _ = DispatchSemaphore(value: 0).wait(timeout: deadline)
                throw .deadlinePassed
            }
        }
        #expect(error?.kind == .busy)
    }
}
