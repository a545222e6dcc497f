public import Foundation
public import RunwayJSON
import Synchronization

/// Runs the scripts of verified bundles at the points that the app has opened for them.
///
/// ```swift
/// let scripts = try ScriptRuntime(marker: support.appending(path: "scripts.marker"), build: "412") { print($0) }
/// scripts.open(rows)
/// try await scripts.load(bundle)
/// ```
///
/// A script receives values and returns values. It has no network, no files, no timers and no function of the app; time
/// and random numbers are passed to it. All scripts share one thread of the runtime, and a caller waits for a script at
/// most 8 ms on the main thread and 200 ms on others. A failure has the native result, and a record. The third failure
/// of a function closes its point until the process ends.
///
/// A script that does not end, or that ends the process, condemns its bundle: it never runs again with the same runtime
/// version and build of the app. The marker file remembers it.
public final class ScriptRuntime: Sendable {
    /// A bundle whose scripts are loaded.
    struct Script: Sendable {
        struct Function: Sendable {
            let index: Int
            let version: Int
        }

        let bundle: ScriptBundle
        let owner: ScriptThread.Owner
        /// The number of its interpreter.
        let context: Int
        let functions: [PointKey: Function]
    }

    struct State {
        /// The open points, by their names.
        var slots: [String: PatchSlot] = [:]
        /// The loaded scripts, by the names of their bundles.
        var scripts: [String: Script] = [:]
        var ledger = PointLedger()
        var lastContext = 0
    }

    /// Guards the open points, the loaded scripts and their failures.
    let state = Mutex(State())
    /// Guards no value; it is held while scripts are loaded or unloaded, one after the other.
    let loading = Mutex(())
    let build: String
    let deadlines: ScriptDeadlines
    let marker: MarkerFile
    let thread: ScriptThread
    let recorder: ScriptRecorder
    let calls: CallRecorder?

    /// Creates a runtime without scripts, and starts its thread.
    ///
    /// - Parameters:
    ///   - marker: The file that remembers which script ran when the process ended, in a folder of the app itself. It
    ///     is created if it does not exist, and belongs to one runtime of one process.
    ///   - build: The build of the app, such as its `CFBundleVersion`.
    ///   - redaction: Removes secrets from messages and lines of the console, by their names.
    ///   - recordedCalls: The file to which calls of open points and patchable reformers are appended, for
    ///     ``rehearse(_:endpoints:)``. The default is `nil`: nothing is recorded. **The file contains what people wrote
    ///     and read.** Set it on test devices and in test builds only.
    ///
    ///     A line has the arguments and the result of a native function as JSON, or the type of the error that it
    ///     threw. Values of members with secret names are masked, and secrets within other strings, such as a token in
    ///     a URL. A call for which a script has the result is not recorded. The file has mode 0600, belongs to one
    ///     runtime of one process, and takes at most 16 MiB and 10,000 calls. A call of more than 256 KiB is left out
    ///     and counted. Calls are encoded on the caller's thread, and written on a queue of the runtime.
    ///   - receive: Receives records in order, on a queue of the runtime. The default ignores them.
    /// - Throws: ``ScriptError`` of kind `markerInUse`, `markerUnusable` or `recordsUnusable`.
    public convenience init(
        marker: URL, build: String, redaction: JSONRedaction = .default, recordedCalls: URL? = nil,
        receive: @escaping @Sendable (ScriptRecord) -> Void = { _ in }
    ) throws(ScriptError) {
        try self.init(
            marker: marker, build: build, redaction: redaction, recordedCalls: recordedCalls,
            deadlines: ScriptDeadlines(), receive: receive)
    }

    package init(
        marker: URL, build: String, redaction: JSONRedaction = .default, recordedCalls: URL? = nil,
        deadlines: ScriptDeadlines, receive: @escaping @Sendable (ScriptRecord) -> Void
    ) throws(ScriptError) {
        let marker = try MarkerFile(marker)
        let recorder = ScriptRecorder(redaction: redaction, receive: receive)
        calls = try recordedCalls.map { url throws(ScriptError) in try CallRecorder(url, redaction: redaction) }
        self.build = build
        self.deadlines = deadlines
        self.marker = marker
        self.recorder = recorder
        thread = ScriptThread(marker: marker) { owner in
            marker.condemn(owner.marker)
            recorder.record(ScriptRecord(.condemned, bundle: owner.bundle))
        }
    }

    deinit {
        for slot in state.withLock({ Array($0.slots.values) }) {
            disconnect(slot)
            if slot.recorder === calls { slot.recorder = nil }
        }
        thread.close()
    }

    /// Waits until the calls so far are in the file of recorded calls, for example before it is shared.
    public func flushRecordedCalls() async { await calls?.flush() }

    /// Lets scripts patch a point. It is a programming error to open two points of one name.
    public func open<Input, Output, Failure>(_ point: PatchPoint<Input, Output, Failure>) { open(point.slot) }

    func open(_ slot: PatchSlot) {
        state.withLock { state in
            let other = state.slots.updateValue(slot, forKey: slot.name)
            precondition(other == nil, "there are two points \(slot.name)")
            if let calls { slot.recorder = calls }
            for script in state.scripts.values { connect(script, to: slot, unless: state.ledger) }
        }
    }

    /// Removes this runtime's script from a slot. Another runtime that has opened the point keeps its own.
    func disconnect(_ slot: PatchSlot?) {
        if let slot, slot.patch?.owner == ObjectIdentifier(self) { slot.patch = nil }
    }

    /// Puts a script's function into a slot, if the script has one for it that is not closed.
    func connect(_ script: Script, to slot: PatchSlot, unless ledger: PointLedger) {
        let key = PointKey(kind: .patch, name: slot.name)
        guard let function = script.functions[key], function.version == slot.version,
            !ledger.isClosed(key, for: script.bundle.id)
        else { return }
        slot.patch = Patch(owner: ObjectIdentifier(self)) { [weak self] arguments in
            self?.call(key, of: script, arguments)
        } fail: { [weak self] error, isOfScript in
            self?.fail(key, of: script, ScriptError(.mismatched, "\(error)"), isCounted: isOfScript)
        }
    }
}

/// How long callers wait for scripts.
package struct ScriptDeadlines: Sendable {
    package var main = Duration.milliseconds(8)
    package var elsewhere = Duration.milliseconds(200)
    /// Bounds the loading of a bundle, which no view waits for.
    package var loading = Duration.seconds(1)

    package init() {}
}
