import Dispatch
import Foundation
import Synchronization

/// The end of a command by Ctrl-C (SIGINT) or SIGTERM: its work is cancelled, and cleans up after itself.
enum Interruption {
    /// The time within which cancelled work has to end by itself before the process ends.
    static let grace = DispatchTimeInterval.seconds(2)

    /// The signal that ended some work.
    struct Signalled: Error {
        var signal: Int32
    }

    /// Runs `work`, and cancels it when the process receives a signal to end.
    ///
    /// A second signal, or the end of ``grace``, ends the process at once; temporary files are removed then, too.
    ///
    /// - Parameter forcedStatus: The exit code of a process that did not wait for `work`, from the signal.
    /// - Throws: ``Signalled`` if a signal was received, whatever the result of `work`; otherwise the errors of `work`.
    static func cancelling<Value: Sendable>(
        forcedStatus: @escaping @Sendable (_ signal: Int32) -> Int32 = ExitStatus.signalled,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let signals = [SIGINT, SIGTERM]
        let (registrations, registration) = AsyncStream<Void>.makeStream()
        let task = Task {
            // Until its source is registered a signal ends the process, and no work has started that it could interrupt.
            for await _ in registrations.prefix(signals.count) {}
            try Task.checkCancellation()
            return try await work()
        }
        let received = ReceivedSignal()
        // Of another quality of service than the tasks, whose threads may all be busy for long: it has threads of its own.
        let queue = DispatchQueue(label: "runway.signals", qos: .userInteractive)
        let sources = signals.map { number in
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler {
                let end: @Sendable () -> Never = {
                    ProgressLine.wipe()
                    TemporaryFiles.removeAll()
                    // Not exit(3): other threads still run, and handlers of exit would free memory that they use.
                    _exit(forcedStatus(number))
                }
                if !received.isFirst(number) { end() }
                queue.asyncAfter(deadline: .now() + grace) { end() }
                task.cancel()
            }
            source.setRegistrationHandler {
                #if canImport(Darwin)
                    // There the source sees a signal in addition to its default action; elsewhere it replaces it.
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

/// The first received signal.
private final class ReceivedSignal: Sendable {
    /// Guards the number of the signal.
    private let number = Mutex<Int32?>(nil)

    var signal: Int32? { number.withLock { $0 } }

    func isFirst(_ signal: Int32) -> Bool {
        number.withLock { number in
            defer { number = number ?? signal }
            return number == nil
        }
    }
}

/// Files and folders that must not outlive the process, however it ends by itself or by a signal that it handles.
enum TemporaryFiles {
    /// Guards the paths.
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
