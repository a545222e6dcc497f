package import Foundation
import Runway
import Synchronization

/// The calls of one web view or tab. A shell reports what its browser reports, and sends the replies.
///
/// Contexts are named by what the browser never repeats, such as the unique id of an execution context.
package final class BridgedPage: Sendable {
    /// Functions of a shell that the bridge calls.
    package struct Shell: Sendable {
        /// Passes a reply to the context with this name.
        let reply: @Sendable (PageReply, _ context: String) -> Void
        /// Clears the data of the page and loads it again, after a sign-out.
        let reset: @Sendable () -> Void

        /// Creates the functions of a shell.
        package init(
            reply: @escaping @Sendable (PageReply, _ context: String) -> Void, reset: @escaping @Sendable () -> Void
        ) {
            self.reply = reply
            self.reset = reset
        }
    }

    private struct Context {
        var document: PageDocument
        let origin: Origin?
        /// The commands of the calls in flight.
        var tasks: [Int: Task<Void, Never>] = [:]
        /// The tasks of each call that wait to send a part.
        var waiting: [Int: [CheckedContinuation<Void, Never>]] = [:]
        /// The bytes that the page has not loaded yet, oldest first.
        var bytes: [(token: String, data: Data)] = []
        /// Sleeps until the document has to be woken, or less long.
        var sleeper: (instant: Duration, task: Task<Void, Never>)?
    }

    /// The path under which a page loads bytes of its calls. The shell serves it.
    package static let bytesPath = "/.runway/bytes/"

    private let bridge: Bridge
    private let shell: Shell
    /// Guards the contexts of the page, with their calls.
    private let contexts = Mutex<[String: Context]>([:])

    /// Creates the calls of a web view, and adds them to their bridge.
    package init(_ bridge: Bridge, shell: Shell) {
        self.bridge = bridge
        self.shell = shell
        bridge.add(self)
    }

    deinit { closeAll() }

    // MARK: What the browser reports

    /// Reports a new context of the bridge's world.
    package func open(_ context: String, origin: String, isMainFrame: Bool) {
        let document = PageDocument(
            number: bridge.nextDocument(), origin: origin, isMainFrame: isMainFrame, grants: bridge.grants,
            limits: bridge.limits, names: bridge.redaction.names)
        contexts.withLock { contexts in
            contexts[context] = Context(document: document, origin: Origin(serialized: origin))
        }
    }

    /// Reports that a context is gone, or frozen with its page.
    package func close(_ context: String) {
        let now = bridge.clock.now
        perform(in: context, closing: true) {
            $0.end(.ended, "The page was left while the call was in flight.", at: now) + $0.takeTotals()
        }
    }

    /// Reports that all contexts are gone: the page was left, or it crashed.
    package func closeAll() { for context in contexts.withLock({ Array($0.keys) }) { close(context) } }

    /// Passes on what the relay of a context has sent. A context that is unknown is gone: it is ignored.
    package func receive(_ text: String, from context: String) {
        let now = bridge.clock.now
        perform(in: context) { $0.receive(text, at: now) }
    }

    /// Refuses something that the page tried and that is no call.
    package func refuse(_ kind: BridgeError.Kind, _ message: String) {
        guard let context = contexts.withLock({ $0.min { $0.value.document.number < $1.value.document.number }?.key })
        else { return }
        let now = bridge.clock.now
        perform(in: context) { $0.refuse("", kind, message, now) }
    }

    /// Removes and returns bytes that a call has returned. They can be loaded once. Only the document that made the
    /// call receives their random path.
    package func takeBytes(at path: String) -> Data? {
        guard path.hasPrefix(Self.bytesPath) else { return nil }
        let token = String(path.dropFirst(Self.bytesPath.count))
        return contexts.withLock { contexts in
            for (name, context) in contexts {
                guard let index = context.bytes.firstIndex(where: { $0.token == token }) else { continue }
                return contexts[name]?.bytes.remove(at: index).data
            }
            return nil
        }
    }

    func signOut() {
        closeAll()
        shell.reset()
    }

    // MARK: Performing

    private func perform(
        in name: String, closing: Bool = false, finishing id: Int? = nil,
        _ decide: (inout PageDocument) -> [PageDocument.Action]
    ) {
        let (actions, resumed, cancelled) = contexts.withLock { contexts in
            var resumed: [CheckedContinuation<Void, Never>] = []
            var cancelled: [Task<Void, Never>] = []
            // Removed, so that its collections are changed in place.
            guard var context = contexts.removeValue(forKey: name) else {
                return ([PageDocument.Action](), resumed, cancelled)
            }
            if let id { context.tasks[id] = nil }
            let actions = decide(&context.document)
            for action in actions {
                switch action {
                case .start(let start): context.tasks[start.id] = run(start, in: name, context.origin)
                case .cancel(let id): context.tasks.removeValue(forKey: id).map { cancelled.append($0) }
                case .resume(let id): resumed += context.waiting.removeValue(forKey: id) ?? []
                case .reply, .record: break
                }
            }
            if !closing, let instant = context.document.nextWake {
                // A sleeper that wakes too early sleeps again: most calls end long before their deadlines.
                if context.sleeper.map({ $0.instant > instant }) ?? true {
                    context.sleeper?.task.cancel()
                    context.sleeper = (instant, sleep(until: instant, for: name))
                }
            }
            contexts[name] = closing ? nil : context
            if closing, let sleeper = context.sleeper { cancelled.append(sleeper.task) }
            return (actions, resumed, cancelled)
        }
        for task in cancelled { task.cancel() }
        for continuation in resumed { continuation.resume() }
        for action in actions {
            switch action {
            case .reply(let reply): shell.reply(reply, name)
            case .record(let record): bridge.record(record)
            case .start, .cancel, .resume: break
            }
        }
    }

    private func sleep(until instant: Duration, for context: String) -> Task<Void, Never> {
        Task { [weak self, clock = bridge.clock] in
            guard (try? await clock.sleep(until: instant)) != nil, let self else { return }
            contexts.withLock { $0[context]?.sleeper = nil }
            perform(in: context) { $0.wake(at: clock.now) }
        }
    }

    private func run(_ start: PageDocument.Start, in context: String, _ origin: Origin?) -> Task<Void, Never>? {
        guard let origin else { return nil }
        let call = CommandCall(origin: origin, idempotencyKey: start.idempotencyKey) {
            [weak self] (json) async throws(BridgeError) in
            guard let self else { throw BridgeError(.ended, "The page is gone.") }
            try await self.send(json, of: start.id, in: context)
        }
        return Task { [weak self] in
            let observer = FlightID.Observer { [weak self] flight in
                self?.contexts.withLock { $0[context]?.document.add(flight, to: start.id) }
            }
            let result = await FlightID.$observer.withValue(observer) { await Self.result(of: start, call) }
            self?.finish(start.id, in: context, result)
        }
    }

    private static func result(
        of start: PageDocument.Start, _ call: CommandCall
    ) async -> Result<CommandOutput, BridgeError> {
        do { return .success(try await start.command.run(start.input, call)) } catch let error as BridgeError {
            return .failure(error)
        } catch { return .failure(BridgeError(.failed, "The command failed.")) }
    }

    private func finish(_ id: Int, in name: String, _ result: Result<CommandOutput, BridgeError>) {
        let output: Result<PageDocument.Output, BridgeError> =
            switch result {
            case .success(.json(let json)): .success(.json(json))
            case .success(.bytes(let data)): .success(store(data, of: id, in: name))
            case .failure(let error): .failure(error)
            }
        let now = bridge.clock.now
        perform(in: name, finishing: id) { $0.finish(id, output, at: now) }
    }

    /// Stores the output of a call until the page loads it, and returns its address.
    private func store(_ data: Data, of id: Int, in name: String) -> PageDocument.Output {
        let token = UUID().uuidString
        contexts.withLock { contexts in
            // The page receives no path of a call that is over.
            guard contexts[name]?.tasks[id] != nil else { return }
            contexts[name]?.bytes.append((token, data))
            // The page loads them at once. One that does not loses the oldest.
            let excess = (contexts[name]?.bytes.count ?? 0) - bridge.limits.maximumCallsInFlight
            if excess > 0 { contexts[name]?.bytes.removeFirst(excess) }
        }
        return .bytes(address: Self.bytesPath + token, count: data.count)
    }

    private func send(_ json: [UInt8], of id: Int, in name: String) async throws(BridgeError) {
        while true {
            let may: Bool? = contexts.withLock { $0[name]?.document.mayPart(id) } ?? nil
            guard let may else { throw BridgeError(.ended, "The call is over.") }
            if may { break }
            await withCheckedContinuation { continuation in
                let isOver = contexts.withLock { contexts in
                    // The acknowledgement may have arrived since.
                    if contexts[name]?.document.isWaiting(id) != true { return true }
                    contexts[name]?.waiting[id, default: []].append(continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
        }
        perform(in: name) { $0.part(id, json) }
    }
}
