#if canImport(Darwin)
    import Dispatch
    import Foundation
    import Synchronization

    /// A body that is read while it is sent. It uses a pair of bound streams: a queue writes to one, and the session
    /// reads the other.
    ///
    /// Each transmission has its own pair. The session transmits a request again over another connection if the first
    /// one was lost, or if a proxy refused the request because it requires credentials.
    final class Upload: Sendable {
        private struct State {
            var pipe: BodyPipe?
            var task: Task<Void, Never>?
            var isStopped = false
        }

        private let body: BodyStream
        private let byteCount: Int?
        private let isReplayable: Bool
        /// Guards the current transmission, and whether it was stopped.
        private let state = Mutex(State())

        init(_ body: BodyStream, byteCount: Int?, isReplayable: Bool) {
            self.body = body
            self.byteCount = byteCount
            self.isReplayable = isReplayable
        }

        /// Starts to read the body. Calls `fail` if reading fails.
        ///
        /// - Returns: The stream that the session reads. `nil` if the upload was stopped, or if it was already
        ///   transmitted and can't be read again.
        func start(onFailure fail: @escaping @Sendable (RequestBodyFailure) -> Void) -> InputStream? {
            let (input, pipe) = BodyPipe.makePair()
            let (isStarted, last) = state.withLock { state in
                guard !state.isStopped, state.pipe == nil || isReplayable else { return (false, (nil, nil) as Sending) }
                let last = (state.pipe, state.task) as Sending
                state.pipe = pipe
                state.task = Task { [body, byteCount, weak self] in
                    var parts = RequestBodyParts(body, byteCount: byteCount)
                    do throws(RequestBodyFailure) {
                        while let part = try await parts.next() { if await !pipe.write(part) { return } }
                        pipe.endBody()
                    } catch {
                        // If a later transmission cancelled this one, the error is not a failure of the call.
                        if self?.isCurrent(pipe) == true { fail(error) }
                    }
                }
                return (true, last)
            }
            last.pipe?.close()
            last.task?.cancel()
            if isStarted { return input }
            // A stream does not retain its delegate. An open stream would call the delegate after its release.
            pipe.close()
            return nil
        }

        /// Returns whether this pipe belongs to the current transmission.
        private func isCurrent(_ pipe: BodyPipe) -> Bool {
            state.withLock { $0.pipe === pipe && !$0.isStopped }
        }

        private typealias Sending = (pipe: BodyPipe?, task: Task<Void, Never>?)

        /// Stops reading. The streams stay open until the session has ended the task, because an earlier end would look
        /// like the end of the body.
        func stop() {
            let (pipe, task) = state.withLock { state -> Sending in
                state.isStopped = true
                return (state.pipe, state.task)
            }
            pipe?.stop()
            task?.cancel()
        }

        /// Stops reading and closes the streams.
        func finish() {
            stop()
            state.withLock(\.pipe)?.close()
        }
    }

    /// The writing end of a pair of bound streams. Writing does not block a thread while the other end is not read.
    // Unchecked: only `queue` uses the stream and the variables.
    private final class BodyPipe: NSObject, StreamDelegate, @unchecked Sendable {
        /// The maximum number of bytes that the session has not read.
        private static let bufferByteCount = 1 << 16

        private let queue = DispatchQueue(label: "runway.upload")
        private let output: OutputStream
        /// The unwritten rest of the current part.
        private var rest: ArraySlice<UInt8> = []
        private var writer: CheckedContinuation<Bool, Never>?
        private var isStopped = false

        /// Returns the end that the session reads, and the writing end.
        static func makePair() -> (InputStream, BodyPipe) {
            var (input, output): (InputStream?, OutputStream?)
            Stream.getBoundStreams(withBufferSize: bufferByteCount, inputStream: &input, outputStream: &output)
            guard let input, let output else { preconditionFailure("The system made no pair of bound streams.") }
            return (input, BodyPipe(output))
        }

        private init(_ output: OutputStream) {
            self.output = output
            super.init()
            output.delegate = self
            CFWriteStreamSetDispatchQueue(output as CFWriteStream, queue)
            output.open()
        }

        /// Writes a part as fast as the session reads. Returns `false` if the pipe was stopped, or if the session has
        /// closed its end.
        func write(_ part: [UInt8]) async -> Bool {
            await withCheckedContinuation { continuation in
                queue.async {
                    self.rest = part[...]
                    self.writer = continuation
                    self.isStopped ? self.resumeWriter(false) : self.writeRest()
                }
            }
        }

        func stream(_ stream: Stream, handle event: Stream.Event) {
            if event.contains(.errorOccurred) || event.contains(.endEncountered) {
                isStopped = true
                resumeWriter(false)
            } else if event.contains(.hasSpaceAvailable) {
                writeRest()
            }
        }

        private func writeRest() {
            while !rest.isEmpty, output.hasSpaceAvailable {
                let count = rest.withUnsafeBufferPointer { buffer in
                    buffer.baseAddress.map { output.write($0, maxLength: buffer.count) } ?? 0
                }
                guard count > 0 else { return resumeWriter(false) }
                rest = rest.dropFirst(count)
            }
            if rest.isEmpty { resumeWriter(true) }
        }

        private func resumeWriter(_ isWritten: Bool) {
            writer?.resume(returning: isWritten)
            writer = nil
        }

        /// Stops writing, and leaves the stream open.
        func stop() {
            queue.async {
                self.isStopped = true
                self.resumeWriter(false)
            }
        }

        /// Ends the body after its last part, unless the pipe was stopped.
        func endBody() { queue.async { if !self.isStopped { self.output.close() } } }

        func close() {
            queue.async {
                self.isStopped = true
                self.resumeWriter(false)
                self.output.delegate = nil
                CFWriteStreamSetDispatchQueue(self.output as CFWriteStream, nil)
                self.output.close()
            }
        }
    }
#endif
