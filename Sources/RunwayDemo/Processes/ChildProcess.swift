#if Command
    package import Foundation
    import RunwayTestServer
    import Synchronization

    /// A child process that is killed when its owner ends.
    package final class ChildProcess {
        /// The error of a process that ended by itself before it was killed.
        package struct EndedByItself: Error, CustomStringConvertible {
            /// The exit code, or the negative signal number.
            package let status: Int32
            package var description: String { "A process had ended by itself, with \(status)." }
        }

        private let process = Process()
        private let lines: AsyncStream<String>
        private let endings: AsyncStream<Int32>

        /// Starts a program.
        ///
        /// - Parameters:
        ///   - arguments: The arguments of the program.
        ///   - program: The file of the program. The default is the program of this process.
        package init(_ arguments: [String], of program: URL? = nil) throws {
            let (lines, line) = AsyncStream<String>.makeStream()
            let (endings, ending) = AsyncStream<Int32>.makeStream()
            (self.lines, self.endings) = (lines, endings)
            process.executableURL = program ?? Bundle.main.executableURL
            process.arguments = arguments
            process.standardInput = FileHandle.nullDevice
            process.terminationHandler = { process in
                ending.yield(
                    process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
                ending.finish()
            }
            let reader = try process.startWithPipe()
            // A read blocks for an unknown time, so it has its own thread.
            Thread.detachNewThread {
                var rest: [UInt8] = []
                while case let bytes = reader.availableData, !bytes.isEmpty {
                    rest += bytes
                    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                        line.yield(String(decoding: rest[..<end], as: UTF8.self))
                        rest.removeSubrange(...end)
                    }
                }
                line.finish()
            }
        }

        deinit { if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) } }

        /// Returns the next line of the process's output; `nil` at the end of the output.
        package func nextLine() async -> String? { await lines.first { _ in true } }

        /// Kills the process with SIGKILL, and returns when it has ended.
        ///
        /// - Throws: ``EndedByItself`` if the process had ended before.
        package func kill() async throws {
            if process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
            let status = await end()
            guard status == -SIGKILL else { throw EndedByItself(status: status) }
        }

        var isRunning: Bool { process.isRunning }

        /// Waits for the end of the process. Returns the exit code, or the negative signal number. Call it only once.
        package func end() async -> Int32 { await endings.first { _ in true } ?? -1 }

        /// Writes a line for the parent process, and waits to be killed.
        ///
        /// - Throws: `CancellationError` if the process is not killed within ten minutes.
        package static func waitForKill(saying line: String) async throws {
            FileHandle.standardOutput.write(Data("\(line)\n".utf8))
            try await Task.sleep(for: .seconds(600))
            throw CancellationError()
        }
    }

    final class ReceivedCount: Sendable {
        private let count = Atomic(0)

        var value: Int { count.load(ordering: .relaxed) }

        @discardableResult
        func add(_ number: Int) -> Int { count.wrappingAdd(number, ordering: .relaxed).newValue }
    }
#endif
