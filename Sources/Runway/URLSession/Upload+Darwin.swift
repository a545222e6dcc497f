#if canImport(Darwin)
    import Dispatch
    import Foundation
    import Synchronization

    /// A body that is read while it is sent, through a pair of bound streams: the session reads one, a thread fills the other.
    final class Upload: Sendable {
        /// The most bytes that wait for the session.
        private static let bufferByteCount = 1 << 16

        private struct State {
            var parts: CountedParts?
            var input: InputStream?
            var output: OutputStream?
            var task: Task<Void, Never>?
            var isStopped = false
        }

        /// Guards the two ends and what fills them.
        private let state: Mutex<State>
        /// A write waits for the session to read, which no task may.
        private let writing = DispatchQueue(label: "runway.upload")

        /// What the session reads.
        var stream: InputStream? { state.withLock(\.input) }

        init(of parts: sending CountedParts) {
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: Self.bufferByteCount, inputStream: &input, outputStream: &output)
            state = Mutex(State(parts: parts, input: input, output: output))
        }

        /// Starts to read the body; `fail` is called where it can't be.
        func start(onFailure fail: @escaping @Sendable (RequestBodyFailure) -> Void) {
            let task = Task {
                guard var parts = takeParts() else { return }
                writing.async { self.state.withLock(\.output)?.open() }
                do throws(RequestBodyFailure) {
                    while let part = try await parts.next() { if await !write(part) { return } }
                    writing.async { self.state.withLock(\.output)?.close() }
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
                defer { (state.isStopped, state.parts, state.task) = (true, nil, nil) }
                return state.task
            }
            task?.cancel()
        }

        private func takeParts() -> sending CountedParts? {
            nonisolated(unsafe) let parts = state.withLock { state -> CountedParts? in
                defer { state.parts = nil }
                return state.parts
            }
            return parts
        }

        /// Writes a part, as far as the session reads; gives whether more is wanted.
        private func write(_ part: [UInt8]) async -> Bool {
            await withCheckedContinuation { continuation in
                writing.async {
                    var rest = part[...]
                    while !rest.isEmpty {
                        let (output, isStopped) = self.state.withLock { ($0.output, $0.isStopped) }
                        guard let output, !isStopped else { break }
                        let count = rest.withUnsafeBufferPointer { buffer in
                            buffer.baseAddress.map { output.write($0, maxLength: buffer.count) } ?? 0
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
