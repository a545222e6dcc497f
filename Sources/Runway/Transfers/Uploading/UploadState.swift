import HTTPTypes
import RunwayFormats
import Synchronization

/// The plan of an upload. Interim responses change it while a request is sent.
final class UploadState: Sendable {
    private struct State {
        var plan: UploadPlan
        /// Whether the state that a later call needs has changed since ``takeUnsaved()`` last returned it.
        var isUnsaved = false
    }

    /// Guards the plan.
    private let state: Mutex<State>

    init(_ plan: UploadPlan) { state = Mutex(State(plan: plan)) }

    var step: UploadPlan.Step { state.withLock { $0.plan.step } }
    var location: String? { state.withLock { $0.plan.location } }
    var offset: Int { state.withLock { $0.plan.offset } }
    var refusalOfSize: String? { state.withLock { $0.plan.refusalOfSize } }

    func resume(_ record: UploadRecord) {
        state.withLock { state in
            let plan = state.plan
            state.plan = UploadPlan(
                byteCount: plan.byteCount, isRepeatable: plan.isRepeatable, location: record.location,
                mayHaveEffect: record.passed == .whole)
        }
    }

    func update<Result>(_ change: (inout UploadPlan) -> Result) -> Result {
        state.withLock { state in
            let former = state.plan
            let result = change(&state.plan)
            if (state.plan.location, state.plan.mayHaveEffect) != (former.location, former.mayHaveEffect) {
                state.isUnsaved = true
            }
            return result
        }
    }

    func take(interim fields: UploadFields, location: String?) {
        update { $0.take(interim: fields, location: location) }
    }

    /// Whether there is unsaved state for a later call.
    var isUnsaved: Bool { state.withLock { $0.isUnsaved && $0.plan.location != nil } }

    /// Returns the state that a later call needs, if it has changed since the last call of this method; otherwise
    /// `nil`.
    func takeUnsaved() -> (location: String, passed: UploadRecord.Extent)? {
        state.withLock { state in
            guard state.isUnsaved, let location = state.plan.location else { return nil }
            state.isUnsaved = false
            return (location, state.plan.mayHaveEffect ? .whole : .part)
        }
    }
}

/// Counts the bytes of one request that were passed to the transport.
final class SentCount: Sendable {
    private let count = Atomic(0)
    var value: Int { count.load(ordering: .relaxed) }
    func set(_ count: Int) { self.count.store(count, ordering: .relaxed) }
}

/// Reports the progress of a resumable upload. If the server reports during a request how many bytes of the file it
/// has, the progress is that number. Otherwise it is the number of bytes that were passed to the transport, counted
/// from the last offset that the server reported.
final class UploadProgress: Sendable {
    private struct State {
        /// Whether the server reports during a request how many bytes of the file it has.
        var isConfirmed = false
        var shown = 0
    }

    private let reporter: ProgressReporter?
    private let byteCount: Int
    /// Guards the reported progress.
    private let state = Mutex(State())

    init(_ reporter: ProgressReporter?, byteCount: Int) {
        self.reporter = reporter
        self.byteCount = byteCount
    }

    /// Records that the transport has taken the bytes of the file up to `offset`.
    func report(sent offset: Int) {
        let isShown = state.withLock { state in
            if state.isConfirmed || offset < state.shown { return false }
            state.shown = offset
            return true
        }
        if isShown { reporter?.report(offset, of: byteCount, isUrgent: offset == 0) }
    }

    /// Records that the server has the bytes up to `offset`, according to a report during the request.
    func report(stored offset: Int) {
        let isShown = state.withLock { state in
            state.isConfirmed = true
            if offset < state.shown { return false }
            state.shown = offset
            return true
        }
        if isShown { reporter?.report(offset, of: byteCount) }
    }

    /// Records that the server has the bytes up to `offset`, and that no request is in flight.
    func restart(at offset: Int) {
        state.withLock { $0.shown = offset }
        reporter?.report(offset, of: byteCount, isUrgent: true)
    }

    /// Records that the server has the whole file.
    func end() { restart(at: byteCount) }
}
