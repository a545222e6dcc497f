import NIOCore
import Runway

/// Sends a body that is a stream, a part at a time, as fast as the connection takes it.
///
/// It works in ``run()``, in a task of its own, since an answer may come before the body is over. A connection gives it a turn; what a
/// turn that is over still writes goes nowhere.
///
/// Unchecked: everything that changes is touched on the event loop only.
final class BodyUpload: @unchecked Sendable {
    private let stream: BodyStream
    private let byteCount: Int?
    private let isReplayable: Bool
    private let eventLoop: any EventLoop

    private weak var exchange: Exchange?
    private var turn = 0
    private var isTurnPending = false
    private var hasBegun = false
    private var isOver = false
    private var waiter: CheckedContinuation<Int?, Never>?
    private var task: Task<Void, Never>?

    init(_ stream: BodyStream, byteCount: Int?, isReplayable: Bool, on eventLoop: any EventLoop) {
        self.stream = stream
        self.byteCount = byteCount
        self.isReplayable = isReplayable
        self.eventLoop = eventLoop
    }

    /// Whether the body can be sent from its start. On the loop.
    var canRestart: Bool { isReplayable || !hasBegun }

    /// Works for this exchange in this task. Before the exchange begins.
    func attach(to exchange: Exchange, in task: Task<Void, Never>) {
        eventLoop.execute {
            self.exchange = exchange
            self.task = task
            if self.isOver { task.cancel() }
        }
    }

    /// A connection wants the body, from its start. On the loop.
    func start() {
        guard !isOver else { return }
        turn += 1
        hasBegun = true
        if let waiter {
            self.waiter = nil
            waiter.resume(returning: turn)
        } else {
            isTurnPending = true
        }
    }

    /// The connection wants no more of the body. On the loop.
    func stop() {
        turn += 1
        isTurnPending = false
    }

    /// Nobody wants anything of the body any more. On the loop.
    func end() {
        isOver = true
        stop()
        task?.cancel()
        task = nil
        waiter?.resume(returning: nil)
        waiter = nil
    }

    /// Sends the body whenever a connection wants it, until the exchange is over.
    func run() async {
        while let turn = await nextTurn() { await send(turn) }
    }

    private func nextTurn() async -> Int? {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                if self.isOver { return continuation.resume(returning: nil) }
                guard self.isTurnPending else { return self.waiter = continuation }
                self.isTurnPending = false
                continuation.resume(returning: self.turn)
            }
        }
    }

    private func send(_ turn: Int) async {
        do {
            var parts = RequestBodyParts(stream, byteCount: byteCount)
            while let part = try await parts.next() {
                guard await write(part, turn) else { return }
            }
            onLoop(turn) { $0.connection?.sendEnd(of: $0) }
        } catch {
            onLoop(turn) { $0.uploadFailed(error) }
        }
    }

    /// Gives a part to the connection and waits until it takes more; `false` where the turn is over.
    private func write(_ part: [UInt8], _ turn: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            eventLoop.execute {
                guard self.turn == turn, let exchange = self.exchange, let connection = exchange.connection else {
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

    private func onLoop(_ turn: Int, _ body: @escaping @Sendable (Exchange) -> Void) {
        eventLoop.execute {
            guard self.turn == turn, let exchange = self.exchange else { return }
            body(exchange)
        }
    }
}
