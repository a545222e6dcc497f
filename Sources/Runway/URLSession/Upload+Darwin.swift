#if canImport(Darwin)
    import Dispatch
    import Foundation
    import Synchronization

    /// A body that is read while it is sent, through a pair of bound streams: the session reads one, a thread fills the other.
    final class Upload: Sendable {
        /// The most bytes that the session has not read.
        private static let bufferByteCount = 1 << 16

        private struct State {
            var task: Task<Void, Never>?
            var isStopped = false
        }

        /// The end that the session alone reads.
        nonisolated(unsafe) let stream: InputStream?
        /// The end that the queue `writing` alone writes.
        nonisolated(unsafe) private let output: OutputStream?
        private let body: BodyStream
        private let byteCount: Int?
        /// Guards the task that reads the body, and whether it was stopped.
        private let state = Mutex(State())
        /// A write waits for the session to read, which no task may.
        private let writing = DispatchQueue(label: "runway.upload")

        init(_ body: BodyStream, byteCount: Int?) {
            self.body = body
            self.byteCount = byteCount
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: Self.bufferByteCount, inputStream: &input, outputStream: &output)
            (stream, self.output) = (input, output)
        }

        /// Starts to read the body; calls `fail` if that fails.
        func start(onFailure fail: @escaping @Sendable (RequestBodyFailure) -> Void) {
            let task = Task {
                writing.async { self.output?.open() }
                var parts = RequestBodyParts(body, byteCount: byteCount)
                do throws(RequestBodyFailure) {
                    while let part = try await parts.next() { if await !write(part) { return } }
                    writing.async { self.output?.close() }
                } catch {
                    fail(error)
                }
            }
            let isStopped = state.withLock { state in
                state.task = task
                return state.isStopped
            }
            if isStopped { task.cancel() }
        }

        /// Stops the reading; the rest is not sent.
        func stop() {
            let task = state.withLock { state in
                defer { (state.isStopped, state.task) = (true, nil) }
                return state.task
            }
            task?.cancel()
        }

        /// Writes a part as fast as the session reads. Returns `false` if the upload was stopped.
        private func write(_ part: [UInt8]) async -> Bool {
            await withCheckedContinuation { continuation in
                writing.async {
                    var rest = part[...]
                    while !rest.isEmpty, !self.state.withLock(\.isStopped) {
                        let count = rest.withUnsafeBufferPointer { buffer in
                            buffer.baseAddress.flatMap { self.output?.write($0, maxLength: buffer.count) } ?? 0
                        }
                        guard count > 0 else { break }
                        rest = rest.dropFirst(count)
                    }
                    continuation.resume(returning: rest.isEmpty)
                }
            }
        }
    }
#endif
