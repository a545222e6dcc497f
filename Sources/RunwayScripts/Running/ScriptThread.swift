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
        let deadline: DispatchTime
        let work: Work
        let ended = DispatchSemaphore(value: 0)
        /// Guards the result, which is there before `ended` is signalled.
        let result = Mutex<Result<[UInt8], ScriptError>?>(nil)

        init(owner: Owner, deadline: DispatchTime, work: @escaping Work) {
            self.owner = owner
            self.deadline = deadline
            self.work = work
        }
    }

    private struct State {
        var turns = ScriptTurns()
        var calls: [Int: Call] = [:]
        var isClosed = false
    }

    /// Guards the turns and the calls that wait or run.
    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)
    private let marker: MarkerFile
    private let hung: @Sendable (Owner) -> Void

    /// Stack of the thread in bytes. The engines refuse deeper recursion with an error.
    private static let stackByteCount = 1 << 20

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
    /// - Throws: The work's error; ``ScriptError/Kind/deadlinePassed`` if it has begun and not ended in time;
    ///   ``ScriptError/Kind/busy`` if it could not begin; ``ScriptError/Kind/off``.
    func perform(for owner: Owner, within limit: Duration, _ work: @escaping Work) throws(ScriptError) -> [UInt8] {
        let call = Call(owner: owner, deadline: .now() + limit / .seconds(1), work: work)
        let (number, isOff) = state.withLock { state in
            let number = state.turns.submit()
            if let number { state.calls[number] = call }
            return (number, state.turns.isOff)
        }
        guard let number else {
            throw isOff ? .off : ScriptError(.busy, "Another script has not ended")
        }
        arrivals.signal()
        if call.ended.wait(timeout: call.deadline) == .timedOut {
            let expiry = state.withLock { state in
                let expiry = state.turns.expire(number)
                if expiry == .withdrawn { state.calls[number] = nil }
                return expiry
            }
            switch expiry {
            case .withdrawn: throw ScriptError(.busy, "Other scripts had the time until the deadline")
            case .overdue:
                watch(number, of: owner)
                throw .deadlinePassed
            case .finished: break
            }
        }
        return try call.result.withLock { result throws(ScriptError) in
            guard let result else { preconditionFailure("a call has ended without a result") }
            return try result.get()
        }
    }

    private func serve() {
        var contexts: Contexts = [:]
        while true {
            arrivals.wait()
            let (call, isClosed) = state.withLock { state in
                let number = state.isClosed ? nil : state.turns.begin()
                return (number.flatMap { state.calls.removeValue(forKey: $0) }, state.isClosed)
            }
            if isClosed { return }
            // A call that was withdrawn leaves its signal behind.
            guard let call else { continue }
            marker.run(call.owner.marker)
            let result: Result<[UInt8], ScriptError>
            do throws(ScriptError) {
                result = .success(try call.work(&contexts, call.deadline))
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
    static let deadlinePassed = ScriptError(.deadlinePassed, "The script was slower than its deadline")
}
