import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import Synchronization

/// Sends what waits in the store, one batch at a time, when ``FlushSchedule`` decides so.
final class ActionLogSender: Sendable {
    /// What the layer does for a log.
    struct Link: Sendable {
        /// Sends a body, as any other call of the service.
        var send: @Sendable ([UInt8]) async throws(NetworkError) -> RawData
        /// The account that is signed in to the service; empty if nobody is.
        var account: @Sendable () -> String
    }

    private struct State {
        var schedule: FlushSchedule
        var sent = 0
        var isIdle = false
        var flushes: [CheckedContinuation<Void, Never>] = []
        var isFinished = false
    }

    private let link: Link
    private let store: JournalStore
    private let buffer: RecordBuffer
    private let clock: LayerClock
    private let options: ActionLogOptions
    private let events: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation
    /// Guards the schedule, the count, and who waits for the end of a flush.
    private let state: Mutex<State>

    init(_ link: Link, _ store: JournalStore, _ buffer: RecordBuffer, isNetworkAllowed: Bool) {
        self.link = link
        self.store = store
        self.buffer = buffer
        clock = buffer.clock
        options = buffer.options
        state = Mutex(State(schedule: FlushSchedule(buffer.options, isNetworkAllowed: isNetworkAllowed)))
        (events, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How many records the server has acknowledged in this run.
    var sentCount: Int { state.withLock { $0.sent } }

    /// Changes the schedule, and has it decide anew.
    func change(_ change: (inout FlushSchedule) -> Void) {
        state.withLock { state in
            change(&state.schedule)
            state.isIdle = false
        }
        signal.yield()
    }

    /// Reads how many records wait, and passes that to the schedule.
    func refresh(isUrgent: Bool = false) async {
        guard let count = await waitingCount() else { return }
        let now = clock.now
        change { $0.noteWaiting(count, isUrgent: isUrgent, at: now) }
    }

    /// Sends what waits, and returns when nothing can be sent any more now: all is sent, or an attempt failed.
    func flush() async {
        guard let count = await waitingCount() else { return }
        let now = clock.now
        await withCheckedContinuation { continuation in
            let isFinished = state.withLock { state in
                if state.isFinished { return true }
                state.schedule.noteWaiting(count, at: now)
                state.schedule.flush()
                state.isIdle = false
                state.flushes.append(continuation)
                return false
            }
            if isFinished { continuation.resume() } else { signal.yield() }
        }
    }

    /// Runs until the task is cancelled.
    func run() async {
        await refresh(isUrgent: true)
        var iterator = events.makeAsyncIterator()
        loop: while !Task.isCancelled {
            switch state.withLock({ $0.schedule.step(at: clock.now) }) {
            case .send(let limit): await send(limit)
            case .wait(let instant):
                resumeFlushes()
                let alarm = instant.map { instant in
                    Task { [clock, signal] in
                        try await clock.sleep(until: instant)
                        signal.yield()
                    }
                }
                defer { alarm?.cancel() }
                guard await iterator.next() != nil else { break loop }
            }
        }
        resumeFlushes(isFinished: true)
    }

    private func resumeFlushes(isFinished: Bool = false) {
        let flushes = state.withLock { state in
            if isFinished { state.isFinished = true }
            defer { state.flushes = [] }
            return state.flushes
        }
        for flush in flushes { flush.resume() }
    }

    /// The scopes whose records may be sent now: those of nobody, and those of the account that is signed in.
    private var scopes: [String] {
        let account = link.account()
        return account.isEmpty ? [""] : ["", account]
    }

    /// How many records may be sent now; `nil` if the disk does not say.
    private func waitingCount() async -> Int? {
        let scopes = scopes
        return try? await store.run { journal throws(StorageError) in
            let waiting = try journal.counts().waiting
            return scopes.reduce(0) { $0 + (waiting[$1] ?? 0) }
        }
    }

    private func send(_ limit: Int) async {
        var outcome = FlushSchedule.Outcome.failed()
        do {
            outcome = try await attempt(limit)
        } catch {
            // The disk failed. The batch is still there, or it is sent again, and the server recognises it.
        }
        let count = await waitingCount()
        let now = clock.now
        state.withLock { state in
            state.schedule.didSend(
                count == nil ? .failed() : outcome, waiting: count ?? 1, at: now, jitter: .random(in: 0...1))
        }
        // An attempt that failed ends a flush, even if the next follows at once.
        if case .accepted = outcome {} else if case .refused = outcome {} else { resumeFlushes() }
    }

    private func attempt(_ limit: Int) async throws(StorageError) -> FlushSchedule.Outcome {
        let (scopes, bytes) = (scopes, options.maximumBatchByteCount)
        let claimed = try await store.run { journal throws(StorageError) -> (JournalBatch, UUID)? in
            for scope in scopes {
                if let batch = try journal.claim(scope, maximumCount: limit, maximumByteCount: bytes) {
                    return (batch, journal.installation)
                }
            }
            return nil
        }
        guard let (batch, installation) = claimed else { return .nothing }
        let body = try ActionLogBody.encode(batch, of: installation, sentAt: clock.date)
        // Nothing suspends between this comparison and the start of the call.
        guard batch.scope.isEmpty || batch.scope == link.account() else { return .nothing }
        let response: RawData
        do throws(NetworkError) {
            response = try await link.send(body)
        } catch {
            return try await outcome(of: error, batch)
        }
        guard let verdicts = ActionLogVerdicts(response.json, to: batch) else { return .failed() }
        buffer.setSampleRate(verdicts.sampleRate)
        let count = try await store.run { journal throws(StorageError) in
            try journal.setAside(verdicts.refused, of: batch)
            return try journal.acknowledge(batch, verdicts.stored)
        }
        state.withLock { $0.sent += count }
        return .accepted(gap: verdicts.gap)
    }

    private func outcome(
        of error: NetworkError, _ batch: JournalBatch
    ) async throws(StorageError) -> FlushSchedule.Outcome {
        switch error.status?.code {
        case 401, 403: return .unauthorized
        case 400, 413, 422:
            try await store.run { journal throws(StorageError) in
                if batch.entries.count == 1 {
                    let reason = "The server refused it with status \(error.status?.code ?? 0)."
                    try journal.setAside([batch.entries[0].entry.id: reason], of: batch)
                }
                // What was refused is sent in smaller batches, which have other numbers.
                try journal.refuse(batch)
            }
            return .refused(count: batch.entries.count)
        case 409:
            // The server waits for a number that this stream does not have any more: it lost what it had.
            try await store.run { journal throws(StorageError) in try journal.refuse(batch) }
            return .failed()
        default:
            switch error.kind {
            case .needsLogin, .needsAccessToken, .loginCancelled: return .unauthorized
            default: return .failed(retryAfter: error.retryAfter)
            }
        }
    }
}
