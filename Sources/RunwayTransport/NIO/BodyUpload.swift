import NIOCore
import Runway

/// Sends a streamed request body in parts. Each part is sent when the connection has written the previous one.
///
/// ``run()`` reads the stream in its own task, since a response may arrive before the end of the body. A connection
/// starts and stops a transmission of the body; parts for a stopped transmission are discarded.
///
/// Unchecked: every variable is read and written only on the event loop.
final class BodyUpload: @unchecked Sendable {
    private let stream: BodyStream
    private let byteCount: Int?
    private let isReplayable: Bool
    private let eventLoop: any EventLoop

    private weak var exchange: Exchange?
    /// Counts the starts and stops, to recognise parts of an earlier transmission.
    private var generation = 0
    private var isStartPending = false
    private var hasStarted = false
    private var isOver = false
    private var waiter: CheckedContinuation<Int?, Never>?
    private var task: Task<Void, Never>?

    init(_ stream: BodyStream, byteCount: Int?, isReplayable: Bool, on eventLoop: any EventLoop) {
        self.stream = stream
        self.byteCount = byteCount
        self.isReplayable = isReplayable
        self.eventLoop = eventLoop
    }

    /// Whether the body can be sent from its start. Use on the event loop.
    var canRestart: Bool { isReplayable || !hasStarted }

    /// Sets the exchange and the task in which ``run()`` is called. Called before the exchange begins.
    func attach(to exchange: Exchange, in task: Task<Void, Never>) {
        eventLoop.execute {
            self.exchange = exchange
            self.task = task
            if self.isOver { task.cancel() }
        }
    }

    /// Starts a transmission of the body from its start. Call on the event loop.
    func start() {
        guard !isOver else { return }
        generation += 1
        hasStarted = true
        if let waiter {
            self.waiter = nil
            waiter.resume(returning: generation)
        } else {
            isStartPending = true
        }
    }

    /// Stops the transmission. Call on the event loop.
    func stop() {
        generation += 1
        isStartPending = false
    }

    /// Makes ``run()`` return. Call on the event loop.
    func end() {
        isOver = true
        stop()
        task?.cancel()
        task = nil
        waiter?.resume(returning: nil)
        waiter = nil
    }

    /// Sends the body whenever a connection starts a transmission, until the exchange ends.
    func run() async {
        while let generation = await nextStart() { await send(generation) }
    }

    private func nextStart() async -> Int? {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                if self.isOver { return continuation.resume(returning: nil) }
                guard self.isStartPending else { return self.waiter = continuation }
                self.isStartPending = false
                continuation.resume(returning: self.generation)
            }
        }
    }

    private func send(_ generation: Int) async {
        do {
            var parts = RequestBodyParts(stream, byteCount: byteCount)
            while let part = try await parts.next() {
                guard await write(part, generation) else { return }
            }
            onLoop(generation) { $0.connection?.sendEnd(of: $0) }
        } catch {
            onLoop(generation) { $0.uploadFailed(error) }
        }
    }

    /// Passes a part to the connection and waits until it is written. Returns `false` if the transmission was stopped.
    private func write(_ part: [UInt8], _ generation: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                guard self.generation == generation, let exchange = self.exchange, let connection = exchange.connection
                else {
                    return continuation.resume(returning: false)
                }
                let promise = self.eventLoop.makePromise(of: Void.self)
                promise.futureResult.whenComplete { result in
                    if case .success = result {
                        continuation.resume(returning: true)
                    } else {
                        continuation.resume(returning: false)
                    }
                }
                connection.sendPart(part, of: exchange, promise: promise)
            }
        }
    }

    private func onLoop(_ generation: Int, _ body: @escaping @Sendable (Exchange) -> Void) {
        eventLoop.execute {
            guard self.generation == generation, let exchange = self.exchange else { return }
            body(exchange)
        }
    }
}
