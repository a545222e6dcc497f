import Foundation
import Synchronization

@testable import RunwayChromium

/// A binding of an isolated world and a reply to its context, without anything between them, in a browser of its own.
final class BareBinding: Sendable {
    private let pipe: DevToolsPipe
    private let session: String
    private let context: String

    init(program: String) async throws {
        let profile = URL.temporaryDirectory.appending(path: "runway-chromium-\(UUID().uuidString)")
        let arguments = [
            "--remote-debugging-pipe=cbor", "--user-data-dir=\(profile.path)", "--no-first-run",
            "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--headless=new",
        ]
        pipe = try DevToolsPipe(
            program: program, arguments: arguments + (geteuid() == 0 ? ["--no-sandbox"] : []), removing: profile)
        // Guards the unique id of the isolated world's context.
        let created = Mutex("")
        let (contexts, opened) = AsyncStream<String>.makeStream()
        pipe.onEvent { [pipe] method, parameters, session in
            if method == "Runtime.executionContextCreated", parameters["context"]["name"].string == "bare" {
                let id = parameters["context"]["uniqueId"].string ?? ""
                created.withLock { $0 = id }
                opened.yield(id)
            } else if method == "Runtime.bindingCalled" {
                pipe.post(
                    "Runtime.callFunctionOn",
                    [
                        "functionDeclaration": "function (text) { reply(text) }", "silent": true,
                        "uniqueContextId": .string(created.withLock { $0 }),
                        "arguments": [["value": parameters["payload"]]],
                    ], in: session)
            }
        } end: {
        }
        let target = try await pipe.send("Target.createTarget", ["url": "about:blank"])["targetId"]
        let attached = try await pipe.send("Target.attachToTarget", ["targetId": target, "flatten": true])
        session = attached["sessionId"].string ?? ""
        pipe.post("Runtime.enable", in: session)
        pipe.post("Runtime.addBinding", ["name": "native", "executionContextName": "bare"], in: session)
        pipe.post("Page.createIsolatedWorld", ["frameId": target, "worldName": "bare"], in: session)
        context = await contexts.first { _ in true } ?? ""
        let call = """
            (() => {
              globalThis.reply = text => settle(text)
              globalThis.call = text => new Promise(done => { globalThis.settle = done; native(text) })
            })()
            """
        _ = try await evaluate(call)
    }

    func evaluate(_ expression: String) async throws -> String {
        let result = try await pipe.send(
            "Runtime.evaluate",
            [
                "expression": .string("(async () => JSON.stringify(await (\(expression))))()"), "awaitPromise": true,
                "returnByValue": true, "uniqueContextId": .string(context),
            ], in: session)
        return result["result"]["value"].string ?? "undefined"
    }

    func close() { pipe.close() }
}
