import Foundation
import GRDB
import RunwayTesting
import Testing

@testable import RunwayTables

#if os(Linux) || os(macOS)
    /// A process that is stopped while it has the lock, as a suspended app may be, and another one that waits for it.
    ///
    /// One test at a time, also of other suites: each has a process that waits for this one.
    @Suite(.serialized, .timeLimit(.minutes(10))) struct StoppedProcessTests {
        private let folder = ScratchFolder()
        private var pipe: URL { folder.url.appending(path: "pipe") }

        private func open(_ timeout: Duration) async throws -> RecordStore {
            try await folder.open { ($0.isShared, $0.lockTimeout) = (true, timeout) }
        }

        /// Waits until a process has written its id to the pipe, and is stopped.
        private func nextStoppedProcess() async throws -> pid_t {
            try await RecordStore.inBackground { [pipe] in
                let bytes = try FileHandle(forReadingFrom: pipe).readToEnd() ?? Data()
                let process = try #require(pid_t(String(decoding: bytes, as: UTF8.self)))
                var info = siginfo_t()
                // A process that was continued before it stopped would never continue.
                try #require(waitid(P_PID, id_t(process), &info, WSTOPPED | WNOWAIT) == 0)
                return process
            }
        }

        private static func stop(saying pipe: String) throws {
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: pipe))
            try file.write(contentsOf: Data("\(getpid())".utf8))
            try file.close()
            // The calling thread stops at once, and not some time after this call.
            raise(SIGSTOP)
        }

        private func titles(_ store: RecordStore) async throws -> [String] {
            try await store.read { try $0.fetch(Tasks.self).compactMap { $0[Tasks.title] }.sorted() }
        }

        @Test func aStoppedWriterLosesNothing() async throws { try await oneAtATime(stopAWriter) }

        private func stopAWriter() async throws {
            try await open(.seconds(5)).close()
            try #require(mkfifo(pipe.path, 0o600) == 0)
            async let ending: Void = {
                await #expect(processExitsWith: .success) {
                    [path = folder.file.path as String, pipe = pipe.path as String] in
                    let store = try await RecordStore.open(
                        at: URL(fileURLWithPath: path), tables: [Tasks.self, Lists.self])
                    try await store.write { file in
                        try file.insert(task("before the stop"))
                        try Self.stop(saying: pipe)
                        try file.insert(task("after the stop"))
                    }
                    try await store.close()
                }
            }()
            let process = try await nextStoppedProcess()
            defer { kill(process, SIGCONT) }
            let impatient = try await open(.milliseconds(50))
            // Reads go on. Writes and stagings wait as long as they may, and then fail.
            #expect(try await titles(impatient) == [])
            #expect(await kind { try await impatient.write { _ = try $0.insert(task("refused")) } } == .locked)
            let rows = (1...300).map { list($0) }
            #expect(await kind { _ = try await impatient.stage(rows) } == .locked)
            let patient = try await open(.seconds(60))
            async let write = patient.write { try $0.insert(task("waited")) }
            kill(process, SIGCONT)
            _ = try await write
            await ending
            #expect(try await titles(impatient) == ["after the stop", "before the stop", "waited"])
            try await impatient.finishStaging()
            #expect(try await impatient.read { try $0.count(Lists.self) } == 300)
        }

        @Test func aSuspendedWriterLeavesTheLockAndRepeats() async throws { try await oneAtATime(suspendAWriter) }

        private func suspendAWriter() async throws {
            let store = try await open(.seconds(60))
            try #require(mkfifo(pipe.path, 0o600) == 0)
            async let ending: Void = {
                await #expect(processExitsWith: .success) {
                    [path = folder.file.path as String, pipe = pipe.path as String] in
                    var options = RecordStore.Options()
                    options.isShared = true
                    options.reportInterruption = { error in
                        #expect(error.kind == .interrupted)
                        try? Self.stop(saying: pipe)
                        NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
                    }
                    let store = try await RecordStore.open(
                        at: URL(fileURLWithPath: path), tables: [Tasks.self, Lists.self], options: options)
                    let attempts = AwaitedValue(0)
                    try await store.write { file in
                        attempts.update { $0 += 1 }
                        try file.insert(task("interrupted"))
                        if attempts.value == 1 {
                            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
                        }
                        try file.insert(task("repeated"))
                    }
                    #expect(attempts.value == 2)
                    try await store.close()
                }
            }()
            let process = try await nextStoppedProcess()
            defer { kill(process, SIGCONT) }
            // The stopped process has no lock and half of nothing.
            try await store.write { _ = try $0.insert(task("meanwhile")) }
            #expect(try await titles(store) == ["meanwhile"])
            kill(process, SIGCONT)
            await ending
            #expect(try await titles(store) == ["interrupted", "meanwhile", "repeated"])
        }

        // The notifications are those of a whole process, so that each of these tests has one of its own.

        @Test func suspensionInterruptsAndResumeRepeats() async throws {
            await #expect(processExitsWith: .success) { try await Self.writeInASuspension() }
        }

        private static func writeInASuspension() async throws {
            let folder = ScratchFolder()
            let interruptions = AwaitedValue(0)
            let store = try await folder.open { options in
                options.isShared = true
                options.reportInterruption = { error in
                    #expect(error.kind == .interrupted)
                    interruptions.update { $0 += 1 }
                }
            }
            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
            let write = Task { try await store.write { _ = try $0.insert(task("later")) } }
            try await interruptions.wait(until: 1)
            NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
            try await write.value
            let count = try await store.read { try $0.count(Tasks.self) }
            #expect(count == 1)
        }

        @Test func commitsInASuspensionAreObservedAfterIt() async throws {
            await #expect(processExitsWith: .success) { try await Self.observeInASuspension() }
        }

        @MainActor private static func observeInASuspension() async throws {
            let folder = ScratchFolder()
            let (store, other) = (try await folder.open { $0.isShared = true }, try await folder.open())
            let lists = store.observe { try $0.count(Lists.self) }
            var iterator = lists.makeAsyncIterator()
            for count in 0..<50 {
                let seen = try await iterator.next()
                #expect(seen == count)
                NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
                try await other.write { _ = try $0.insert(Values<Lists>()) }
                NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
            }
        }
    }
#endif
