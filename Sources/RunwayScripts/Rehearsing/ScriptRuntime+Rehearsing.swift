public import Runway
import RunwayJSON
import Synchronization

extension ScriptRuntime {
    /// Runs recorded calls through the loaded scripts, and compares the results with those of the native functions.
    ///
    /// ```swift
    /// let rehearsal = try await scripts.rehearse(records)
    /// #expect(rehearsal.isEqual, "\(rehearsal)")
    /// ```
    ///
    /// Calls the native function if the point is open in this runtime, and then decodes the script's result as the app
    /// does. It uses the recorded result if the point is not open, or if a masked value makes the arguments
    /// undecodable. Scripts have the time of the recorded call, the same random numbers each time, and 200 ms for a
    /// call. Failures close no point. A result with a `Set`, or a dictionary whose keys are neither strings nor
    /// integers, may always differ, since each encoding of it has another order.
    ///
    /// Use it in a test: the scripts' variables change, and the calls wait for each other.
    ///
    /// - Parameters:
    ///   - records: The calls.
    ///   - endpoints: Endpoints for the native functions of reformers, one of each type that the records name. Without
    ///     one the recorded result is used.
    /// - Throws: `CancellationError`.
    @concurrent public func rehearse(
        _ records: RecordedCalls, endpoints: [any Endpoint] = []
    ) async throws(CancellationError) -> PatchRehearsal {
        var calls: [PatchRehearsal.Call] = []
        for call in records.calls {
            if Task.isCancelled { throw CancellationError() }
            calls.append(rehearse(call, endpoints))
        }
        let tested = Set(calls.filter { $0.kind != .notPatched }.map(\.point))
        let patches = state.withLock { state in
            state.scripts.values.flatMap { $0.functions.filter { $0.key.kind == .patch } }
        }
        let untested = patches.filter { !tested.contains($0.key.name) }.map { "\($0.key.name) \($0.value.version)" }
        return PatchRehearsal(calls: calls, untestedPatches: untested.sorted())
    }

    private func rehearse(_ call: RecordedCalls.Call, _ endpoints: [any Endpoint]) -> PatchRehearsal.Call {
        let key = PointKey(kind: .patch, name: call.point)
        let (script, slot) = state.withLock { state in
            (state.scripts.values.first { $0.functions[key]?.version == call.version }, state.slots[call.point])
        }
        guard let script, let function = script.functions[key] else { return PatchRehearsal.Call(call, .notPatched) }
        let native = slot?.version == call.version ? slot?.native : nil
        let expected = PatchSlot.$isNative.withValue(true) { native?.call(call.arguments, endpoints) }
        let begin = ContinuousClock.now
        do throws(ScriptError) {
            let bytes = try perform(
                function, key, of: script, ScriptArguments(call.arguments, now: call.now, seed: 1),
                within: deadlines.elsewhere, isPatient: true)
            let time = ContinuousClock.now - begin
            let differences: [PatchRehearsal.Difference]
            do {
                let actual = try JSONDocument(native?.normalized(bytes) ?? bytes).root
                switch expected?.result ?? call.result {
                case .returned(let bytes):
                    differences = JSONComparison(try JSONDocument(bytes).root, actual).differences
                case .threw(let error):
                    differences = [
                        PatchRehearsal.Difference(
                            path: "$", expected: "the error \(error)", actual: JSONComparison.text(actual))
                    ]
                }
            } catch {
                throw ScriptError(.mismatched, "\(error)")
            }
            return PatchRehearsal.Call(
                call, differences.isEmpty ? .equal : .different, differences: differences, nativeTime: expected?.time,
                patchedTime: time)
        } catch {
            // In the app a script that throws has the native outcome, which is an error here, too.
            if error.kind == .threw, case .threw = expected?.result ?? call.result {
                return PatchRehearsal.Call(call, .equal, nativeTime: expected?.time)
            }
            return PatchRehearsal.Call(call, .failed, error: recorder.redacted(error), nativeTime: expected?.time)
        }
    }
}
