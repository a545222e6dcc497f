package import Foundation
import Synchronization

#if os(macOS) || os(Linux)
    /// Guards the start of processes. If two processes start at the same time, one inherits descriptors of the other.
    /// The end of the other process is then noticed only when both have ended.
    private let starting = Mutex(())

    extension Process {
        /// Starts the process while no other process is being started.
        package func start() throws { try starting.withLock { _ in try run() } }

        /// Starts the process with its output on a new pipe. Returns the reading end.
        ///
        /// - Parameter includesErrors: Whether standard error is written to the pipe, too. The default is `false`.
        package func startWithPipe(includingErrors includesErrors: Bool = false) throws -> FileHandle {
            try starting.withLock { _ in
                let pipe = Pipe()
                standardOutput = pipe
                if includesErrors { standardError = pipe }
                try run()
                return pipe.fileHandleForReading
            }
        }

        /// Runs the process without blocking a thread. Returns the exit code, or the negative signal number.
        package func runToItsEnd() async throws -> Int32 {
            try await withCheckedThrowingContinuation { continuation in
                terminationHandler = { process in
                    let isExit = process.terminationReason == .exit
                    continuation.resume(returning: isExit ? process.terminationStatus : -process.terminationStatus)
                }
                do {
                    try start()
                } catch {
                    terminationHandler = nil
                    continuation.resume(throwing: error)
                }
            }
        }
    }
#endif
