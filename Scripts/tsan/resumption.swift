// Tasks whose continuations another thread resumes, with nothing else shared: Scripts/thread-sanitizer.sh shows with it that
// the report which Scripts/tsan/suppressions.txt silences is made of a program without a race.
//
// `resume(returning:)` is inlined into the resuming thread and reads the continuation before it calls the runtime, which
// hands the task to a worker; the worker then writes where the continuation was. The runtime puts the two in order, in
// libraries that are not instrumented.

import Foundation
import Synchronization

final class Resumer: Sendable {
    /// Guards the continuations that wait for the thread.
    private let waiting = Mutex<[UnsafeContinuation<[Int], any Error>]>([])

    func start() {
        Thread.detachNewThread { [self] in
            while true {
                let batch = waiting.withLock { waiting in
                    defer { waiting = [] }
                    return waiting
                }
                for continuation in batch { continuation.resume(returning: [1]) }
                Thread.sleep(forTimeInterval: 50e-6)
            }
        }
    }

    func value() async throws -> Int {
        try await withUnsafeThrowingContinuation { continuation in waiting.withLock { $0.append(continuation) } }.count
    }
}

@main
struct Resumption {
    static func main() async throws {
        let resumers = [Resumer(), Resumer()]
        for resumer in resumers { resumer.start() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { for _ in 0..<5000 { _ = try await resumers[number % 2].value() } }
            }
            try await group.waitForAll()
        }
    }
}
