import Foundation
import RunwayBridge
import Synchronization

/// One tab of Chromium with a bridge.
///
/// The relay of `runway.js` runs in an isolated world. A message is accepted from a context of that world only, and
/// belongs to the origin that the browser recorded when it created the context.
package final class ChromiumPage: Sendable {
    private struct Context {
        let uniqueID: String
        let session: String
        let number: Int
        let origin: String
    }

    private struct State {
        /// The sessions of the tab: its own, and one for each frame in another process.
        var sessions: Set<String>
        var contexts: [Context] = []
        /// The origins that the tab has shown since its data were cleared, at most ``ChromiumPage/maximumOrigins``.
        var origins: Set<String> = []
        /// The navigations of the main frame, and who waits for the next.
        var navigationCount = 0
        var waiting: [CheckedContinuation<Void, any Error>] = []
        var onLog: (@Sendable (String) -> Void)?
    }

    /// The greatest number of origins whose data are cleared at sign-out, beyond those that are shown. Cookies are
    /// cleared for all.
    private static let maximumOrigins = 1000
    private static let world = "runway"
    private static let binding = "runwayNative"
    /// Constant code: a reply is passed to it as arguments, in the context with a unique id.
    private static let reply = "function (...reply) { runwayReply(...reply) }"

    let target: String
    private let bridge: Bridge
    let browser: ChromiumBrowser
    let session: String
    /// Guards the sessions and the contexts of the tab.
    private let state: Mutex<State>
    private let bridged: Lazy
    private let (closings, closing) = AsyncStream<Never>.makeStream()

    /// The bridge's side of the tab, which needs the tab to send its replies.
    private final class Lazy: Sendable {
        /// Guards the value, which is set once.
        private let value = Mutex<BridgedPage?>(nil)
        var page: BridgedPage? { value.withLock { $0 } }
        func set(_ page: BridgedPage) { value.withLock { $0 = page } }
    }

    init(_ bridge: Bridge, in browser: ChromiumBrowser, target: String, session: String) {
        (self.bridge, self.browser, self.target, self.session) = (bridge, browser, target, session)
        state = Mutex(State(sessions: [session]))
        bridged = Lazy()
        let shell = BridgedPage.Shell { [weak self] reply, context in
            self?.pass(reply, to: context)
        } reset: { [weak self] in
            self?.reset()
        }
        bridged.set(BridgedPage(bridge, shell: shell))
    }

    // MARK: Driving

    /// Loads a page, also one of a bundle, and waits until the browser shows it instead of the former one.
    ///
    /// - Throws: ``ChromiumError`` if the browser can't load it.
    package func load(_ address: String) async throws {
        let count = state.withLock { $0.navigationCount }
        let address = DevToolsValue.string(BundleHost.browserAddress(of: address))
        let result = try await browser.pipe.send("Page.navigate", ["url": address], in: session)
        if let text = result["errorText"].string, !text.isEmpty { throw ChromiumError(text) }
        // Without a loader only the fragment of the address changed.
        if result["loaderId"].string != nil { try await waitForNavigation(after: count) }
    }

    /// Goes back or forward in the history, and waits until the browser shows the page.
    package func go(by offset: Int) async throws {
        let count = state.withLock { $0.navigationCount }
        let history = try await history()
        let index = (history["currentIndex"].integer ?? 0) + offset
        guard history["entries"].elements.indices.contains(index) else { throw ChromiumError("no such entry") }
        let id = history["entries"].elements[index]["id"]
        _ = try await browser.pipe.send("Page.navigateToHistoryEntry", ["entryId": id], in: session)
        try await waitForNavigation(after: count)
    }

    /// Returns the history of the tab. While one page replaces another, the browser refuses the question, which is
    /// asked again for up to 2 s.
    private func history() async throws -> DevToolsValue {
        for _ in 0..<100 {
            do {
                return try await browser.pipe.send("Page.getNavigationHistory", in: session)
            } catch let error as ChromiumError where error.isBetweenPages {
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        return try await browser.pipe.send("Page.getNavigationHistory", in: session)
    }

    /// Waits until the main frame has navigated more than `count` times.
    ///
    /// - Throws: ``ChromiumError`` if the tab is closed before.
    private func waitForNavigation(after count: Int) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let hasNavigated = state.withLock { state in
                if state.navigationCount > count { return true }
                state.waiting.append(continuation)
                return false
            }
            if hasNavigated { continuation.resume() }
        }
    }

    private func resumeWaiting(with result: Result<Void, any Error>) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.navigationCount += 1
            return state.waiting
        }
        for continuation in waiting { continuation.resume(with: result) }
    }

    /// Evaluates an expression in the page, waits for its promise, and returns its value as JSON text.
    package func evaluate(_ expression: String, asGesture: Bool = false) async throws -> String {
        let result = try await browser.pipe.send(
            "Runtime.evaluate",
            [
                "expression": .string("(async () => JSON.stringify(await (\(expression))))()"), "awaitPromise": true,
                "returnByValue": true, "userGesture": .bool(asGesture),
            ], in: session)
        if let text = result["exceptionDetails"]["exception"]["description"].string { throw ChromiumError(text) }
        return result["result"]["value"].string ?? "undefined"
    }

    /// Presses and lifts the mouse at a point of the page, as a user would.
    package func click(x: Int, y: Int) async throws {
        for type in ["mousePressed", "mouseReleased"] {
            _ = try await browser.pipe.send(
                "Input.dispatchMouseEvent",
                ["type": .string(type), "x": .integer(x), "y": .integer(y), "button": "left", "clickCount": 1],
                in: session)
        }
    }

    /// Ends the process that shows the page.
    package func crash() { browser.pipe.post("Page.crash", in: session) }

    /// Waits until the tab is closed or the browser has ended, or until the task is cancelled.
    package func waitForClose() async { for await _ in closings {} }

    /// Closes the tab.
    package func close() async throws {
        end()
        _ = try await browser.pipe.send("Target.closeTarget", ["targetId": .string(target)])
    }

    /// Ends what belongs to the tab, which is gone.
    func end() {
        browser.remove(self)
        bridged.page?.closeAll()
        closing.finish()
        resumeWaiting(with: .failure(ChromiumError.ended))
    }

    /// Sets the function that receives the lines that the page writes to its console.
    package func onLog(_ receive: @escaping @Sendable (String) -> Void) { state.withLock { $0.onLog = receive } }

    // MARK: Bridging

    func prepare() async throws {
        prepare(session)
        let patterns = ["*\(BridgedPage.bytesPath)*", "https://*\(BundleHost.suffix)/*"]
        browser.pipe.post(
            "Fetch.enable", ["patterns": .array(patterns.map { ["urlPattern": .string($0)] })], in: session)
        // The replies arrive in the order of the commands.
        _ = try await browser.pipe.send("Page.getFrameTree", in: session)
    }

    private func prepare(_ session: String) {
        let script = DevToolsValue.string(String(decoding: Bridge.script, as: UTF8.self))
        let pipe = browser.pipe
        pipe.post("Page.enable", in: session)
        pipe.post("Runtime.enable", in: session)
        pipe.post(
            "Runtime.addBinding", ["name": .string(Self.binding), "executionContextName": .string(Self.world)],
            in: session)
        pipe.post(
            "Page.addScriptToEvaluateOnNewDocument", ["source": script, "worldName": .string(Self.world)], in: session)
        pipe.post("Page.addScriptToEvaluateOnNewDocument", ["source": script], in: session)
        // A frame in another process waits until it has its scripts.
        pipe.post(
            "Target.setAutoAttach",
            [
                "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true,
                "filter": [["type": "iframe"], ["exclude": true]],
            ], in: session)
    }

    private func pass(_ reply: PageReply, to context: String) {
        guard let session = state.withLock({ $0.contexts.first { $0.uniqueID == context }?.session }) else { return }
        let values: [DevToolsValue] = [
            .string(reply.document), .integer(reply.generation), .string(reply.kind.rawValue), .integer(reply.id),
            .string(reply.errorKind), .string(reply.text),
        ]
        browser.pipe.post(
            "Runtime.callFunctionOn",
            [
                "functionDeclaration": .string(Self.reply), "uniqueContextId": .string(context), "silent": true,
                "arguments": .array(values.map { ["value": $0] }),
            ], in: session)
    }

    private func reset() {
        let origins = state.withLock { state in
            defer { state.origins = [] }
            return state.origins.union(state.contexts.map(\.origin))
        }
        // A tab or a browser that ends meanwhile has no data to clear.
        Task { try? await clear(origins) }
    }

    /// Clears the cookies of the browser and the data of origins, and loads the page again.
    ///
    /// No script of the page may write after the data are cleared. So scripts are disabled first, also those of
    /// `pagehide`; then the page is replaced, and removed from the history, where it would be frozen. Each step is
    /// tried though one before has failed, so that an error leaves neither data nor a tab without scripts.
    private func clear(_ origins: Set<String>) async throws {
        let pipe = browser.pipe
        let history = try? await self.history()
        let entry = history?["entries"].elements.dropFirst(history?["currentIndex"].integer ?? 0).first
        pipe.post("Emulation.setScriptExecutionDisabled", ["value": true], in: session)
        try? await load("about:blank")
        pipe.post("Page.resetNavigationHistory", in: session)
        _ = try? await pipe.send("Storage.clearCookies", in: session)
        for origin in origins {
            // The browser responds when the data are gone.
            _ = try? await pipe.send(
                "Storage.clearDataForOrigin", ["origin": .string(origin), "storageTypes": "all"], in: session)
        }
        _ = try await pipe.send("Emulation.setScriptExecutionDisabled", ["value": false], in: session)
        try await load(entry?["url"].string ?? "about:blank")
    }

    func refusePopup() { bridged.page?.refuse(.popup, "The page tried to open a window.") }

    func receive(_ method: String, _ parameters: DevToolsValue, _ session: String) {
        guard state.withLock({ $0.sessions.contains(session) }) else { return }
        switch method {
        case "Runtime.bindingCalled":
            guard parameters["name"].string == Self.binding, let text = parameters["payload"].string else { return }
            let number = parameters["executionContextId"].integer
            let context = state.withLock { $0.contexts.last { $0.session == session && $0.number == number } }
            if let context { bridged.page?.receive(text, from: context.uniqueID) }
        case "Runtime.executionContextCreated": open(parameters["context"], session)
        case "Runtime.executionContextDestroyed":
            let id = parameters["executionContextUniqueId"].string
            close { $0.uniqueID == id }
        case "Runtime.executionContextsCleared", "Inspector.targetCrashed": close { $0.session == session }
        case "Target.attachedToTarget":
            guard let child = parameters["sessionId"].string else { return }
            state.withLock { _ = $0.sessions.insert(child) }
            prepare(child)
            browser.pipe.post("Runtime.runIfWaitingForDebugger", in: child)
        case "Target.detachedFromTarget":
            guard let child = parameters["sessionId"].string else { return }
            state.withLock { _ = $0.sessions.remove(child) }
            close { $0.session == child }
        case "Page.frameNavigated":
            if parameters["frame"]["id"].string == target { resumeWaiting(with: .success(())) }
        case "Fetch.requestPaused": respond(to: parameters)
        case "Runtime.consoleAPICalled":
            let words = parameters["args"].elements.map { $0["value"].string ?? $0["description"].string ?? "" }
            state.withLock { $0.onLog }?(words.joined(separator: " "))
        case "Runtime.exceptionThrown":
            let details = parameters["exceptionDetails"]
            state.withLock { $0.onLog }?(details["exception"]["description"].string ?? details["text"].string ?? "")
        default: break
        }
    }

    private func open(_ context: DevToolsValue, _ session: String) {
        guard context["name"].string == Self.world, let id = context["uniqueId"].string,
            let number = context["id"].integer, let origin = context["origin"].string
        else { return }
        state.withLock { state in
            state.contexts.removeAll { $0.uniqueID == id }
            state.contexts.append(Context(uniqueID: id, session: session, number: number, origin: origin))
            if state.origins.count < Self.maximumOrigins { state.origins.insert(origin) }
        }
        bridged.page?.open(
            id, origin: BundleHost.address(of: origin),
            isMainFrame: session == self.session && context["auxData"]["frameId"].string == target)
    }

    private func close(_ isClosed: (Context) -> Bool) {
        let closed = state.withLock { state in
            let closed = state.contexts.filter(isClosed)
            state.contexts.removeAll(where: isClosed)
            return closed
        }
        for context in closed { bridged.page?.close(context.uniqueID) }
    }

    /// Responds with the bytes of a call, under the origin of the page, or with a file of a bundle.
    private func respond(to paused: DevToolsValue) {
        let request = paused["request"]
        let address = BundleHost.address(of: request["url"].string ?? "")
        let path = URL(string: address)?.path(percentEncoded: true) ?? ""
        let isMainFrame = paused["frameId"].string == target
        let response =
            if path.hasPrefix(BridgedPage.bytesPath) {
                BundleResponse(bytes: isMainFrame ? bridged.page?.takeBytes(at: path) : nil)
            } else {
                bridge.response(
                    to: request["method"].string ?? "", of: address, range: request["headers"]["Range"].string)
            }
        let fields = response.headerFields.map { DevToolsValue.object(["name": .string($0), "value": .string($1)]) }
        browser.pipe.post(
            "Fetch.fulfillRequest",
            [
                "requestId": paused["requestId"], "responseCode": .integer(response.status),
                "responseHeaders": .array(fields), "body": .bytes(response.body),
            ], in: session)
    }
}
