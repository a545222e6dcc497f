import Foundation
import HTTPTypes
import Runway
import Synchronization

extension ActionLogSender {
    func attempt(
        _ scope: String, over link: Link
    ) async throws(StorageError) -> SendOutcome {
        // Nothing of an account is sent before the server has erased its earlier records, since the erasure would
        // include the new ones.
        if let (refusals, secret) = try await store.read({ journal throws(StorageError) in
            try journal.pendingErasure(of: scope).map { ($0, journal.secret) }
        }) {
            return try await erase(scope, after: refusals, secret, over: link)
        }
        let byteCount = options.maximumBatchByteCount
        let (skipped, limit) = loop.schedule {
            ($0.skipped(in: scope), $0.isSuspected(scope) ? 1 : $0.policy.limit(scope))
        }
        let claimed = try await store.run { journal throws(StorageError) in
            try journal.claimOpened(
                scope, maximumCount: limit, maximumByteCount: byteCount, skipping: skipped
            ).map { ($0, journal.installation) }
        }
        guard let (batch, installation) = claimed else {
            loop.schedule { $0.hasNoProbe(in: scope) }
            return .stopped
        }
        let body = try ActionLogBody.encode(batch, of: installation, sentAt: clock.date)
        // There is no suspension point between this comparison and the start of the call.
        guard scope.isEmpty || scope == link.account(), !buffer.isOptedOut else { return .stopped }
        let response: RawData
        do throws(NetworkError) {
            response = try await link.send(body, scope.isEmpty)
        } catch {
            note(error)
            return try await outcome(of: error, batch)
        }
        guard let verdicts = ActionLogVerdicts(response.json, to: batch) else {
            state.withLock { $0.problem = "The server's response was not one to the batch." }
            return try await treat(batch, isFault: true, "The server's response to it made no sense.")
        }
        return try await accept(verdicts, of: batch)
    }

    /// Stores a pause that the server asked for with a failure, so that a later run respects it, too.
    func storePause(_ wait: Duration) async throws(StorageError) {
        let (time, now) = (buffer.time, clock.now)
        var pace = buffer.pace
        pace.pause = max(pace.pause, now + min(wait, SendPace.longestPause))
        buffer.pace = pace
        try await store.run { [pace] journal throws(StorageError) in try journal.setPace(pace, at: time, now: now) }
    }

    /// Counts records that the server has accepted or refused. A negative number counts records that wait again. It is
    /// called within an operation on the file, so that the number of waiting records and this count match.
    private func noteEnd(of count: Int, in scope: String) {
        state.withLock { $0.ended[scope, default: 0] += count }
    }

    private func note(_ error: NetworkError) {
        let words =
            error.status.map { "The server responded with status \($0.code)." } ?? "\(error.kind): \(error.detail)"
        state.withLock { $0.problem = words }
    }

    private func erase(
        _ scope: String, after refusals: Int, _ secret: InstallationSecret, over link: Link
    ) async throws(StorageError) -> SendOutcome {
        guard scope.isEmpty || scope == link.account() else { return .stopped }
        do throws(NetworkError) {
            if scope.isEmpty { try await link.eraseOfNobody(secret) } else { try await link.erase() }
        } catch {
            note(error)
            let status = error.status?.code
            let concernsAccount = error.status?.concernsAccount ?? false
            switch (status, ReplayVerdict(error)) {
            case _ where !scope.isEmpty && concernsAccount, (_, .unauthorized) where !scope.isEmpty,
                (nil, .unauthorized):
                return .unauthorized
            // A server without the route responds with 404, 405 or 501. It may add the route soon, so it is asked a few
            // times. For records without an account, a gateway may respond with 401 or 403 instead. A fault with a
            // status below 400 is a redirect that can't be followed, or a success that confirms no erasure.
            case _ where concernsAccount, (404, _), (405, _), (501, _), ((200..<400)?, .faulted), (_, .unauthorized),
                (_, .refused), (_, .conflicting), (_, .executed):
                let (limit, reason) = (options.maximumServerFaults, status.map { "status \($0)" } ?? "\(error.kind)")
                let isOver = try await store.run { journal throws(StorageError) in
                    let isOver = try journal.refuseErasure(of: scope, after: refusals, upTo: limit, reason)
                    if isOver { self.noteEnd(of: 1, in: scope) }
                    return isOver
                }
                return isOver ? .settled() : .failed(retryAfter: error.retryAfter)
            case (_, .failed(let retryAfter)), (_, .faulted(let retryAfter)): return .failed(retryAfter: retryAfter)
            case (_, .stopped), (_, .lost): return .failed()
            }
        }
        state.withLock { $0.problem = nil }
        try await store.run { journal throws(StorageError) in
            try journal.setErasurePending(scope, false)
            self.noteEnd(of: 1, in: scope)
        }
        return .settled()
    }

    private func accept(
        _ verdicts: ActionLogVerdicts, of batch: JournalBatch
    ) async throws(StorageError) -> SendOutcome {
        let (time, now, former) = (buffer.time, clock.now, buffer.pace)
        state.withLock { $0.problem = nil }
        let lifetime = verdicts.gap > .zero ? verdicts.gap : ActionLogPace.standardLifetime
        var pace = ActionLogPace()
        if verdicts.sampleRate < 1 { (pace.sampleRate, pace.end) = (verdicts.sampleRate, now + lifetime) }
        if verdicts.gap > .zero { pace.pause = now + verdicts.gap }
        let first = batch.entries[0].id
        let isProbe = loop.schedule { $0.isProbe(first, in: batch.scope) }
        let count = try await store.run { [pace] journal throws(StorageError) in
            // Both changes are in one transaction. If the process ended between them, the batch would be sent again
            // with the same number and fewer records.
            let (count, ended) = try journal.transaction { () throws(StorageError) -> (Int, Int) in
                let returned = try journal.endRefusals(of: batch.scope, at: time)
                if !isProbe { try journal.removeLosses(of: batch.scope) }
                let refused = try journal.setAside(verdicts.refused, of: batch)
                let count = try journal.acknowledge(batch, verdicts.stored)
                if pace != former { try journal.setPace(pace, at: time, now: now) }
                return (count, count + refused - returned)
            }
            self.noteEnd(of: ended, in: batch.scope)
            return count
        }
        buffer.pace = pace
        state.withLock { $0.sent += count }
        loop.schedule { $0.end(first, in: batch.scope) }
        return .settled(pause: verdicts.gap)
    }

    private func outcome(
        of error: NetworkError, _ batch: JournalBatch
    ) async throws(StorageError) -> SendOutcome {
        let status = error.status?.code
        switch status {
        case 401: return .unauthorized
        case 403:
            // The refusal usually concerns the account, or asks for a sign-in. But a gateway, for example, may refuse
            // the content of one record.
            return try await treatLoss(
                of: batch, "The server refused it with status 403.", repeating: .unauthorized)
        case 400, 413, 422:
            return try await treat(batch, isFault: false, "The server refused it with status \(status ?? 0).")
        case 409:
            // The server has other numbers for this stream, since it lost the records of the stream, or the file was
            // restored from a backup. If the server refuses every new stream, too, this counts as a failure on the
            // batch.
            return try await treat(batch, isFault: true, "The server refused every number of it.", inNewStream: true)
        default: break
        }
        switch ReplayVerdict(error) {
        case .unauthorized: return .unauthorized
        case .failed(let retryAfter): return .failed(retryAfter: retryAfter)
        case .stopped: return .failed()
        case .lost:
            return try await treatLoss(
                of: batch, "No response came to it: \(status.map { "status \($0)" } ?? "\(error.kind)").")
        case .faulted, .refused, .conflicting, .executed:
            let what = status.map { "with status \($0)" } ?? "as \(error.kind)"
            return try await treat(
                batch, isFault: true, "The server failed on it \(what).", retryAfter: error.retryAfter)
        }
    }

    /// Repeats or halves a batch that was not accepted, or sets its only record aside.
    ///
    /// - Parameter isNewStream: Whether a repeated batch gets a number in a new stream. The default is `false`.
    private func treat(
        _ batch: JournalBatch, isFault: Bool, _ reason: String, inNewStream isNewStream: Bool = false,
        retryAfter: Duration? = nil
    ) async throws(StorageError) -> SendOutcome {
        let (scope, count, first) = (batch.scope, batch.entries.count, batch.entries[0].id)
        let treatment = loop.schedule { schedule in
            let faults = isFault ? schedule.countFault(of: first, in: scope) : nil
            return schedule.policy.treatment(scope, count: count, faults: faults)
        }
        if treatment == .repeat {
            if isNewStream { try await store.run { journal throws(StorageError) in try journal.refuse(batch) } }
            return .failed(retryAfter: retryAfter)
        }
        return try await end(batch, isFault: isFault, reason, retryAfter)
    }

    /// Repeats or halves a batch without a response, or finds out whether the server fails on its only record.
    ///
    /// - Parameter outcome: The outcome that the schedule uses to plan the next attempt. The default is a backoff.
    private func treatLoss(
        of batch: JournalBatch, _ reason: String, repeating outcome: SendOutcome = .failed()
    ) async throws(StorageError) -> SendOutcome {
        let (scope, count, first, time) = (batch.scope, batch.entries.count, batch.entries[0].id, buffer.time)
        var isDue = false
        if !loop.schedule({ $0.isProbe(first, in: scope) }) {
            isDue = try await store.run { journal throws(StorageError) in
                try journal.noteLoss(of: scope, first, at: time)
            }
        }
        if count > 1 {
            guard isDue || loop.schedule({ $0.policy.isHalf(scope, count) }) else { return outcome }
            return try await end(batch, isFault: true, reason)
        }
        switch loop.schedule({ [isDue] in $0.treatLoss(of: first, in: scope, isDue: isDue) }) {
        case .repeat: return outcome
        case .release(let serverIsDown):
            try await store.run { journal throws(StorageError) in
                try journal.refuse(batch)
                if serverIsDown { try journal.removeLosses(of: scope) }
            }
            return outcome
        case .setAside: return try await end(batch, isFault: true, reason)
        }
    }

    /// Ends a batch. Its records are sent in smaller batches, or its only record is set aside.
    private func end(
        _ batch: JournalBatch, isFault: Bool, _ reason: String, _ retryAfter: Duration? = nil
    ) async throws(StorageError) -> SendOutcome {
        let (scope, count, first) = (batch.scope, batch.entries.count, batch.entries[0].id)
        let limit = options.maximumSetAsideCount
        let (isRefusingAll, refusals) = loop.schedule { ($0.policy.isRefusingAll, $0.policy.refusals(of: scope)) }
        let isOver = try await store.run { journal throws(StorageError) in
            try journal.transaction { () throws(StorageError) -> Bool in
                if count == 1 {
                    // The failure may be temporary, so it must not evict records that are set aside.
                    if isRefusingAll, try journal.counts().setAside >= limit { return false }
                    try journal.setRefusals(of: scope, refusals + 1)
                    try journal.setAside([first: reason], of: batch, inSeries: true)
                }
                // The records are sent in smaller batches with other numbers.
                try journal.refuse(batch)
                return true
            }
        }
        guard isOver else { return .failed(retryAfter: retryAfter) }
        return loop.schedule { schedule in
            schedule.end(first, in: scope)
            return schedule.policy.refuse(scope, count: count, isFault: isFault)
        }
    }
}
