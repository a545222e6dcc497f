import Foundation
import Synchronization

/// The thread on which all scripts of a runtime run, one call at a time.
///
/// A caller waits until its deadline and then goes on. Until the script has ended, no other begins. If it has not ended
/// a second after its deadline, scripts are off until the process ends, and the thread is abandoned to it: on Apple's
/// systems nothing can stop a script, and on Linux nothing can stop a function of the engine.
final class ScriptThread: Sendable {
    typealias Contexts = [Int: any ScriptContext]
    /// The bundle for which the thread works, with its number in the marker file.
    struct Owner: Sendable {
        let marker: Int
        let bundle: String
    }

    typealias Work = @Sendable (inout Contexts, _ deadline: DispatchTime) throws(ScriptError) -> [UInt8]

    private final class Call: Sendable {
        let owner: Owner
        /// The time from the submission to the deadline; for a patient call, from its begin.
        let limit: Duration
        let isPatient: Bool
        let work: Work
        let began = DispatchSemaphore(value: 0)
        let ended = DispatchSemaphore(value: 0)
        /// Guards the result, which is there before `ended` is signalled.
        let result = Mutex<Result<[UInt8], ScriptError>?>(nil)

        /// Guards the deadline and the time of the begin.
        private let times: Mutex<(deadline: DispatchTime, begun: DispatchTime?)>

        init(owner: Owner, limit: Duration, isPatient: Bool, work: @escaping Work) {
            self.owner = owner
            self.limit = limit
            self.isPatient = isPatient
            self.work = work
            times = Mutex((.now() + limit / .seconds(1), nil))
        }

        var deadline: DispatchTime { times.withLock { $0.deadline } }

        /// Notes that the call begins. Returns its deadline.
        func begin() -> DispatchTime {
            defer { began.signal() }
            return times.withLock { times in
                times.begun = .now()
                if isPatient { times.deadline = .now() + limit / .seconds(1) }
                return times.deadline
            }
        }

        /// The error of a call that waited for others until its deadline passed: its script is to blame only if it had
        /// half of the limit.
        var expired: ScriptError {
            times.withLock { times in
                guard let begun = times.begun, begun + limit / .seconds(2) <= times.deadline else { return .late }
                return .deadlinePassed
            }
        }
    }

    private struct State {
        var turns = ScriptTurns()
        var calls: [Int: Call] = [:]
        /// Interpreters to free before the next call begins.
        var discarded: [(context: Int, freed: DispatchSemaphore)] = []
        var isClosed = false
    }

    /// Guards the turns and the calls that wait or run.
    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)
    private let marker: MarkerFile
    private let hung: @Sendable (Owner) -> Void

    /// Stack of the thread in bytes. The engines refuse deeper recursion with an error.
    private static let stackByteCount = 1 << 20
    /// How long a patient call waits for others.
    private static let patience = 2.0

    /// Starts the thread.
    ///
    /// - Parameter hung: Called once, if a script of this bundle does not end.
    init(marker: MarkerFile, hung: @escaping @Sendable (Owner) -> Void) {
        self.marker = marker
        self.hung = hung
        let thread = Thread { [self] in serve() }
        thread.name = "runway.scripts"
        thread.stackSize = Self.stackByteCount
        thread.qualityOfService = .userInteractive
        thread.start()
    }

    /// Ends the thread after the running call.
    func close() {
        state.withLock { $0.isClosed = true }
        arrivals.signal()
    }

    /// Performs work on the thread, and waits for it until the deadline.
    ///
    /// - Parameter isPatient: Whether it waits up to 2 s for other calls first, which its limit does not include.
    /// - Throws: The work's error; ``ScriptError/Kind/deadlinePassed`` if it has not ended in time;
    ///   ``ScriptError/Kind/busy`` if others had most of the time; ``ScriptError/Kind/off``.
    func perform(
        for owner: Owner, within limit: Duration, isPatient: Bool = false, _ work: @escaping Work
    ) throws(ScriptError) -> [UInt8] {
        let call = Call(owner: owner, limit: limit, isPatient: isPatient, work: work)
        let (number, isOff, isAlone) = state.withLock { state in
            let isAlone = state.turns.running == nil && state.turns.waiting.isEmpty
            let number = state.turns.submit(isPatient: isPatient)
            if let number { state.calls[number] = call }
            return (number, state.turns.isOff, isAlone)
        }
        guard let number else {
            throw isOff ? .off : ScriptError(.busy, "Another script has not ended")
        }
        arrivals.signal()
        if isPatient { _ = call.began.wait(timeout: .now() + Self.patience) }
        if call.ended.wait(timeout: call.deadline) == .timedOut {
            let expiry = state.withLock { state in
                let expiry = state.turns.expire(number)
                if expiry == .withdrawn { state.calls[number] = nil }
                return expiry
            }
            switch expiry {
            case .withdrawn: throw .late
            case .overdue:
                watch(number, of: owner)
                throw isAlone ? .deadlinePassed : call.expired
            case .finished: break
            }
        }
        guard let result = call.result.withLock({ $0 }) else {
            preconditionFailure("a call has ended without a result")
        }
        if !isAlone, case .failure(let error) = result, error.kind == .deadlinePassed { throw call.expired }
        return try result.get()
    }

    /// Frees an interpreter as soon as no call runs. Returns whether it was freed within a time.
    func discard(_ context: Int, within limit: Duration) -> Bool {
        let freed = DispatchSemaphore(value: 0)
        let isOff = state.withLock { state in
            state.discarded.append((context, freed))
            return state.turns.isOff
        }
        arrivals.signal()
        return !isOff && freed.wait(timeout: .now() + limit / .seconds(1)) == .success
    }

    private func serve() {
        var contexts: Contexts = [:]
        while true {
            arrivals.wait()
            let (call, isClosed, discarded) = state.withLock { state in
                let number = state.isClosed ? nil : state.turns.begin()
                defer { state.discarded = [] }
                return (number.flatMap { state.calls.removeValue(forKey: $0) }, state.isClosed, state.discarded)
            }
            for (context, freed) in discarded {
                contexts[context] = nil
                freed.signal()
            }
            if isClosed { return }
            // A call that was withdrawn leaves its signal behind.
            guard let call else { continue }
            let deadline = call.begin()
            marker.run(call.owner.marker)
            let result: Result<[UInt8], ScriptError>
            do throws(ScriptError) {
                result = .success(try call.work(&contexts, deadline))
            } catch {
                result = .failure(error)
            }
            marker.run(0)
            call.result.withLock { $0 = result }
            state.withLock { $0.turns.end() }
            call.ended.signal()
        }
    }

    /// Looks four times in a second if the call has ended. A second of suspension counts as one look.
    private func watch(_ number: Int, of owner: Owner, looks: Int = 4) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(250)) { [self] in
            let (isRunning, isHung) = state.withLock { state in
                (state.turns.running == number, looks == 1 && state.turns.turnOff(ifRunning: number))
            }
            if isHung { hung(owner) } else if isRunning, looks > 1 { watch(number, of: owner, looks: looks - 1) }
        }
    }
}

extension ScriptError {
    static let off = ScriptError(.off, "A script has not ended; scripts are off until the process ends")
    static let late = ScriptError(.busy, "Other scripts had the time until the deadline")
    static let deadlinePassed = ScriptError(.deadlinePassed, "The script was slower than its deadline")
}
