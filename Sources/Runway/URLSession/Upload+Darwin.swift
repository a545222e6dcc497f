#if canImport(Darwin)
    import Dispatch
    import Foundation
    import Synchronization

    /// A body that is read while it is sent, through a pair of bound streams: the session reads one, a thread fills the other.
    final class Upload: Sendable {
        /// The most bytes that wait for the session.
        private static let bufferByteCount = 1 << 16

        private struct State {
            var task: Task<Void, Never>?
            var isStopped = false
        }

        /// What the session reads. Only the session touches it.
        nonisolated(unsafe) let stream: InputStream?
        /// What is filled. Only the thread of `writing` touches it.
        nonisolated(unsafe) private let output: OutputStream?
        private let body: BodyStream
        private let byteCount: Int?
        /// Guards whether anybody still wants the body, and what makes it.
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

        /// Starts to read the body; `fail` is called where it can't be.
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

        /// Ends the reading: nobody sends the rest.
        func stop() {
            let task = state.withLock { state in
                defer { (state.isStopped, state.task) = (true, nil) }
                return state.task
            }
            task?.cancel()
        }

        /// Writes a part, as far as the session reads; gives whether more is wanted.
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
