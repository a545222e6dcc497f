import Foundation
package import RunwayBridge
import Synchronization

/// A Chromium process with an empty profile, for tests and for `runway page`.
package final class ChromiumBrowser: Sendable {
    let pipe: DevToolsPipe
    /// Guards the pages, by the ids of their targets.
    private let pages = Mutex<[String: ChromiumPage]>([:])

    /// The first of the usual names of Chromium that is on the search path; `nil` if Chromium is not installed.
    package static var installed: String? {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ["chromium", "chromium-browser", "google-chrome"].lazy
            .flatMap { name in folders.map { "\($0)/\(name)" } }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Starts a browser.
    ///
    /// - Parameters:
    ///   - program: The file of the browser.
    ///   - isVisible: Whether it shows a window.
    /// - Throws: ``ChromiumError``, and the errors of starting a process.
    package init(program: String, isVisible: Bool = false) async throws {
        let profile = URL.temporaryDirectory.appending(path: "runway-chromium-\(UUID().uuidString)")
        var arguments = [
            "--remote-debugging-pipe=cbor", "--user-data-dir=\(profile.path)", "--no-first-run",
            "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
            "--disable-sync",
        ]
        if !isVisible { arguments.append("--headless=new") }
        // The sandbox of Chromium does not work for the superuser.
        if geteuid() == 0 { arguments.append("--no-sandbox") }
        pipe = try DevToolsPipe(program: program, arguments: arguments, removing: profile)
        pipe.onEvent { [weak self] method, parameters, session in
            self?.receive(method, parameters, session)
        } end: { [weak self] in
            for page in self?.pages.withLock({ Array($0.values) }) ?? [] { page.end() }
        }
        do { _ = try await pipe.send("Target.setDiscoverTargets", ["discover": true]) } catch {
            close()
            throw error
        }
    }

    /// Opens an empty page with a bridge.
    package func openPage(_ bridge: Bridge) async throws -> ChromiumPage {
        let target = try await pipe.send("Target.createTarget", ["url": "about:blank"])["targetId"].string ?? ""
        let attached = try await pipe.send("Target.attachToTarget", ["targetId": .string(target), "flatten": true])
        let page = ChromiumPage(bridge, in: self, target: target, session: attached["sessionId"].string ?? "")
        pages.withLock { $0[target] = page }
        try await page.prepare()
        return page
    }

    func remove(_ page: ChromiumPage) { pages.withLock { $0[page.target] = nil } }

    private func receive(_ method: String, _ parameters: DevToolsValue, _ session: String) {
        let pages = pages.withLock { Array($0.values) }
        if method == "Target.detachedFromTarget" {
            let detached = parameters["sessionId"].string
            pages.first { $0.session == detached }?.end()
        }
        if method == "Target.targetCreated" {
            // A window that a page opens would have the page as its opener, and no bridge of its own.
            let info = parameters["targetInfo"]
            guard info["type"].string == "page", let opener = info["openerId"].string, !opener.isEmpty else { return }
            pipe.post("Target.closeTarget", ["targetId": info["targetId"]])
            pages.first { $0.target == opener }?.refusePopup()
        } else {
            for page in pages { page.receive(method, parameters, session) }
        }
    }

    /// Ends the browser, and removes its profile.
    package func close() { pipe.close() }
}
