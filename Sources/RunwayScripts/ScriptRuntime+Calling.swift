import Foundation
public import RunwayJSON
import Synchronization

extension ScriptRuntime {
    /// Calls the script that handles an event. Waits for it at most 8 ms on the main thread and 200 ms on others.
    ///
    /// ```js
    /// on("coupon.tap", (state, event) => ({ ...state, open: true }))
    /// ```
    ///
    /// - Parameters:
    ///   - event: The name of the event.
    ///   - state: The state before the event.
    ///   - payload: What the event carries.
    /// - Returns: The state after the event: the former one if no script handles the event, or if the script failed.
    public func state<State: Codable, Payload: Encodable>(
        after event: String, _ state: State, _ payload: Payload
    ) -> State {
        let key = PointKey(kind: .handler, name: event)
        guard let patch = patch(for: key) else { return state }
        let arguments = { () throws -> [[UInt8]] in
            [Array(try JSONEncoder().encode(state)), Array(try JSONEncoder().encode(payload))]
        }
        return patch.output(State.self, of: arguments) ?? state
    }

    /// Calls the script that handles an event, for states that have no type of their own. Waits for it at most 8 ms on
    /// the main thread and 200 ms on others.
    ///
    /// - Returns: The state after the event, which is of the former one's kind; `nil` if no script handles the event,
    ///   or if the script failed: the former state stays.
    public func state(after event: String, _ state: JSONValue, _ payload: JSONValue) -> JSONDocument? {
        let kind = state.kind
        return document(PointKey(kind: .handler, name: event), [state, payload]) { $0 == kind }
    }

    /// Calls the script that draws a view. Waits for it at most 8 ms on the main thread and 200 ms on others.
    ///
    /// ```js
    /// view("coupon", state => ({ node: "text", text: state.title }))
    /// ```
    ///
    /// - Returns: The tree of nodes; `nil` if no script draws the view, or if the script failed: show the fallback of
    ///   the bundle.
    public func view(_ name: String, of state: JSONValue) -> JSONDocument? {
        document(PointKey(kind: .view, name: name), [state]) { $0 == .object }
    }

    /// Returns whether a function of a bundle's scripts has failed since the process began, for example before the
    /// bundle is reported as ready. Unlike records, it includes the failure of a call that has just returned.
    ///
    /// - Parameter bundle: The name and the version, as ``ScriptBundle/id``.
    public func hasFailed(_ bundle: String) -> Bool { state.withLock { $0.ledger.hasFailures(of: bundle) } }

    private func document(
        _ key: PointKey, _ arguments: [JSONValue], where isExpected: (JSONKind) -> Bool
    ) -> JSONDocument? {
        guard let patch = patch(for: key), let bytes = patch.call(arguments.map { Array($0.rawBytes) }) else {
            return nil
        }
        do throws(JSONError) {
            let document = try JSONDocument(bytes)
            guard isExpected(document.root.kind) else {
                throw JSONError(kind: .typeMismatch, path: "$", found: "\(document.root.kind)")
            }
            return document
        } catch {
            patch.fail(error, true)
            return nil
        }
    }

    /// Finds the function for a handler or a view.
    private func patch(for key: PointKey) -> Patch? {
        let script = state.withLock { state in
            state.scripts.values.first { $0.functions[key] != nil && !state.ledger.isClosed(key, for: $0.bundle.id) }
        }
        guard let script else { return nil }
        return Patch { [self] arguments in
            call(key, of: script, arguments)
        } fail: { [self] error, isOfScript in
            fail(key, of: script, ScriptError(.mismatched, "\(error)"), isCounted: isOfScript)
        }
    }

    /// Calls a function of a script. Returns `nil` if it failed, which is recorded.
    func call(
        _ key: PointKey, of script: Script, _ arguments: [[UInt8]], isMain: Bool = Thread.isMainThread
    ) -> [UInt8]? {
        guard let function = script.functions[key] else { return nil }
        let arguments = ScriptArguments(
            arguments, now: (Date().timeIntervalSince1970 * 1_000).rounded(.down), seed: .random(in: 1...UInt32.max))
        do throws(ScriptError) {
            let result = try perform(
                function, key, of: script, arguments, within: isMain ? deadlines.main : deadlines.elsewhere)
            let limit = ScriptArguments.maximumMainResultByteCount
            guard !isMain || result.count <= limit else {
                throw ScriptError(.mismatched, "The result has more than \(limit) bytes, on the main thread")
            }
            return result
        } catch {
            fail(key, of: script, error, isCounted: error.kind != .busy && error.kind != .off)
            return nil
        }
    }

    /// Performs a call on the thread of the scripts, and records the lines of the console.
    func perform(
        _ function: Script.Function, _ key: PointKey, of script: Script, _ arguments: ScriptArguments,
        within limit: Duration, isPatient: Bool = false
    ) throws(ScriptError) -> [UInt8] {
        let (recorder, context, bundle) = (recorder, script.context, script.bundle.id)
        return try thread.perform(for: script.owner, within: limit, isPatient: isPatient) {
            (contexts, deadline) throws(ScriptError) in
            // The scripts were unloaded while the call waited.
            guard let context = contexts[context] else { throw ScriptError(.busy, "The scripts were unloaded") }
            defer { recorder.recordConsole(context.takeConsole(), bundle: bundle, function: key) }
            return try context.call(function.index, arguments, until: deadline)
        }
    }

    /// Records a failure, and closes the point at the third that is the script's.
    func fail(_ key: PointKey, of script: Script, _ error: ScriptError, isCounted: Bool) {
        let bundle = script.bundle.id
        recorder.record(ScriptRecord(.failed, bundle: bundle, function: "\(key)", error: error))
        guard isCounted else { return }
        let isClosed = state.withLock { state in
            guard state.ledger.fail(key, of: bundle) else { return false }
            if key.kind == .patch, state.scripts[script.bundle.name]?.context == script.context {
                disconnect(state.slots[key.name])
            }
            return true
        }
        if isClosed { recorder.record(ScriptRecord(.closed, bundle: bundle, function: "\(key)")) }
    }
}
