import RunwayJSON
import Synchronization

extension ScriptRuntime {
    /// Runs the scripts of a bundle, and calls their functions from now on. Scripts of the same bundle are replaced.
    ///
    /// Nothing changes if the scripts can't be loaded.
    ///
    /// - Throws: ``ScriptError``, which is also recorded: of kind `condemned` if a script of the bundle ended a former
    ///   process; `unsupported`; `threw`, also if two bundles declare one function; `deadlinePassed` after a second.
    @concurrent public func load(_ bundle: ScriptBundle) async throws(ScriptError) {
        try loading.withLock { _ throws(ScriptError) in try replace(with: bundle) }
    }

    /// Ends the scripts of a bundle. Does nothing if none are loaded.
    @concurrent public func unload(_ name: String) async {
        loading.withLock { _ in end(name) }
    }

    /// Loads all scripts anew, so that nothing remains of what they stored in their variables. Call it when another
    /// account begins.
    @concurrent public func beginGeneration() async {
        loading.withLock { _ in
            let bundles = state.withLock { $0.scripts.values.map(\.bundle) }
            for bundle in bundles { end(bundle.name) }
            // A failure is recorded.
            for bundle in bundles { try? replace(with: bundle) }
        }
    }

    private func replace(with bundle: ScriptBundle) throws(ScriptError) {
        do throws(ScriptError) {
            let script = try evaluate(bundle)
            let former = remove(bundle.name)
            state.withLock { state in
                state.scripts[bundle.name] = script
                for slot in state.slots.values { connect(script, to: slot, unless: state.ledger) }
            }
            if let former { discard(former.context, of: former.owner) }
            recorder.record(ScriptRecord(.loaded, bundle: bundle.id))
        } catch {
            recorder.record(ScriptRecord(.failed, bundle: bundle.id, error: error))
            throw recorder.redacted(error)
        }
    }

    private func evaluate(_ bundle: ScriptBundle) throws(ScriptError) -> Script {
        let language = try bundle.language()
        let identity = ScriptIdentity(bundle: bundle.id, runtime: bundle.runtime, build: build)
        guard let number = try marker.register(identity) else {
            throw ScriptError(.unsupported, "There are scripts of \(MarkerContent.maximumBundles) bundles already")
        }
        let owner = ScriptThread.Owner(marker: number, bundle: bundle.id)
        let context = state.withLock { state in
            state.lastContext += 1
            return state.lastContext
        }
        let (files, recorder) = (bundle.files, recorder)
        do throws(ScriptError) {
            let declarations = try thread.perform(for: owner, within: deadlines.loading, isPatient: true) {
                (contexts, deadline) throws(ScriptError) in
                let made = try language.makeContext()
                defer { recorder.recordConsole(made.takeConsole(), bundle: bundle.id, function: nil) }
                for file in files { try made.run(file, until: deadline) }
                let declarations = try made.declarations()
                contexts[context] = made
                return declarations
            }
            let functions = try functions(in: declarations, of: bundle)
            return Script(bundle: bundle, owner: owner, context: context, functions: functions)
        } catch {
            discard(context, of: owner)
            throw error
        }
    }

    private func functions(
        in declarations: [UInt8], of bundle: ScriptBundle
    ) throws(ScriptError) -> [PointKey: Script.Function] {
        var functions: [PointKey: Script.Function] = [:]
        do throws(JSONError) {
            for (index, entry) in try JSONDocument(declarations).root.elements.enumerated() {
                guard let kind = PointKind(rawValue: try entry[0].require()) else { continue }
                let key = PointKey(kind: kind, name: try entry[1].require())
                functions[key] = Script.Function(index: index, version: try entry[2].require())
            }
        } catch {
            throw ScriptError(.mismatched, "The declarations can't be read: \(error)")
        }
        let others = state.withLock { $0.scripts.values.filter { $0.bundle.name != bundle.name } }
        for other in others {
            guard let key = functions.keys.first(where: { other.functions[$0] != nil }) else { continue }
            throw ScriptError(.threw, "\(other.bundle.id) has declared \(key), too")
        }
        return functions
    }

    private func end(_ name: String) {
        if let script = remove(name) { discard(script.context, of: script.owner) }
    }

    private func remove(_ name: String) -> Script? {
        state.withLock { state in
            guard let script = state.scripts.removeValue(forKey: name) else { return nil }
            for key in script.functions.keys where key.kind == .patch { disconnect(state.slots[key.name]) }
            return script
        }
    }

    /// Frees an interpreter, at the latest when a script that still runs has ended. In that case its number in the
    /// marker file stays taken.
    private func discard(_ context: Int, of owner: ScriptThread.Owner) {
        let isFreed = thread.discard(context, within: deadlines.loading)
        let isUsed = state.withLock { $0.scripts.values.contains { $0.owner.marker == owner.marker } }
        if isFreed, !isUsed { marker.unregister(owner.marker) }
    }
}
