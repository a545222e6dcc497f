package import Foundation
import Synchronization

#if os(macOS) || os(Linux)
    /// Guards the start of processes. Of two that start at once, one inherits descriptors of the other, whose end is
    /// then noticed no earlier than its own.
    private let starting = Mutex(())

    extension Process {
        /// Starts the process, and no other meanwhile.
        package func start() throws { try starting.withLock { _ in try run() } }

        /// Starts the process with its output on a new pipe; returns the end to read from.
        ///
        /// - Parameter includesErrors: Whether its errors are written to the pipe, too. They are not by default.
        package func startWithPipe(includingErrors includesErrors: Bool = false) throws -> FileHandle {
            try starting.withLock { _ in
                let pipe = Pipe()
                standardOutput = pipe
                if includesErrors { standardError = pipe }
                try run()
                return pipe.fileHandleForReading
            }
        }

        /// Runs the process without blocking a thread; returns the exit code, or the negated signal that ended it.
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
