import Dispatch
import Foundation
import Synchronization

/// Cancels a command's work on Ctrl-C (SIGINT) or SIGTERM, so that the work can clean up.
enum Interruption {
    /// The time within which cancelled work has to end. Then the process ends.
    static let grace = DispatchTimeInterval.seconds(2)

    struct Signalled: Error {
        var signal: Int32
    }

    /// Runs `work`, and cancels it when the process receives SIGINT or SIGTERM.
    ///
    /// A second signal, or the end of ``grace``, ends the process at once. Temporary files are removed then, too.
    ///
    /// - Parameter forcedStatus: Returns the exit code for a signal if the process does not wait for `work`.
    /// - Throws: ``Signalled`` if a signal was received, even if `work` succeeded. Otherwise the errors of `work`.
    static func cancelling<Value: Sendable>(
        forcedStatus: @escaping @Sendable (_ signal: Int32) -> Int32 = ExitStatus.signalled,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let signals = [SIGINT, SIGTERM]
        let (registrations, registration) = AsyncStream<Void>.makeStream()
        let task = Task {
            // Until both signal sources are registered, a signal ends the process. No work has started by then.
            for await _ in registrations.prefix(signals.count) {}
            try Task.checkCancellation()
            return try await work()
        }
        let received = ReceivedSignal()
        // The tasks' threads may all be busy. A queue with another quality of service has its own threads.
        let queue = DispatchQueue(label: "runway.signals", qos: .userInteractive)
        let sources = signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let end: @Sendable () -> Never = {
                    ProgressLine.wipe()
                    TemporaryFiles.removeAll()
                    // exit(3) would run handlers that free memory while other threads still use it.
                    _exit(forcedStatus(number))
                }
                if !received.isFirst(number) { end() }
                queue.asyncAfter(deadline: .now() + grace) { end() }
                task.cancel()
            }
            source.setRegistrationHandler {
                #if canImport(Darwin)
                    // On this system, a signal still has its default action when a dispatch source receives it. So the
                    // default action is switched off.
                    signal(number, SIG_IGN)
                #endif
                registration.yield()
            }
            source.resume()
            return source
        }
        defer { for source in sources { source.cancel() } }
        let result = await task.result
        if let signal = received.signal { throw Signalled(signal: signal) }
        return try result.get()
    }
}

private final class ReceivedSignal: Sendable {
    /// Guards the number of the received signal; `nil` before a signal.
    private let number = Mutex<Int32?>(nil)

    var signal: Int32? { number.withLock { $0 } }

    func isFirst(_ signal: Int32) -> Bool {
        number.withLock { number in
            defer { number = number ?? signal }
            return number == nil
        }
    }
}

/// Files and folders that are removed before the process ends, either normally or by a handled signal.
enum TemporaryFiles {
    /// Guards the paths of the temporary files and folders.
    private static let paths = Mutex<Set<String>>([])

    static func insert(_ path: String) { paths.withLock { _ = $0.insert(path) } }

    static func remove(_ path: String) { paths.withLock { _ = $0.remove(path) } }

    static func removeAll() {
        let paths = paths.withLock { paths in
            defer { paths = [] }
            return paths
        }
        for path in paths { try? FileManager.default.removeItem(atPath: path) }
    }
}
