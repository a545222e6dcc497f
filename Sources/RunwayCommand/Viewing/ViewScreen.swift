import Foundation
import RunwayBridge
import RunwayChromium

/// A page of Chromium that shows a view, with the images in the folder of its document.
struct ViewScreen: Sendable {
    struct Size: Sendable {
        let width: Int
        let height: Int
        let isDark: Bool
    }

    private let browser: ChromiumBrowser
    private let page: ChromiumPage
    /// The folder of the document.
    private let folder: URL
    /// The file that the browser loads.
    private let file: URL

    /// Starts a browser.
    ///
    /// - Throws: ``CommandFailure`` if there is none, or if it does not start.
    static func open(
        _ program: String?, isVisible: Bool, _ size: Size, folder: URL
    ) async throws(CommandFailure) -> ViewScreen {
        guard let program = program ?? ChromiumBrowser.installed else {
            throw CommandFailure("There is no Chromium in PATH; --browser names one.")
        }
        do {
            let browser = try await ChromiumBrowser(program: program, isVisible: isVisible)
            do {
                let page = try await browser.openPage(Bridge(capabilities: [], sinks: []))
                try await page.setScreen(width: size.width, height: size.height, isDark: size.isDark)
                let file = URL.temporaryDirectory.appending(path: "runway-view-\(UUID().uuidString).html")
                TemporaryFiles.insert(file.path)
                return ViewScreen(browser: browser, page: page, folder: folder, file: file)
            } catch {
                browser.close()
                throw error
            }
        } catch {
            throw CommandFailure("The browser does not start: \(error).", status: ExitStatus.noResponse)
        }
    }

    /// Shows a page, and waits until its images are loaded.
    func show(_ html: String) async throws(CommandFailure) {
        let base = "<head>\n<base href=\"\(folder.absoluteURL.absoluteString)\">"
        do {
            try Data(html.replacing("<head>", with: base, maxReplacements: 1).utf8).write(to: file)
            try await page.load(file.absoluteString)
            _ = try await page.evaluate(
                "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(true)))")
        } catch {
            throw CommandFailure("The page can't be shown: \(error).", status: ExitStatus.noResponse)
        }
    }

    func takePicture(_ path: String) async throws {
        let picture = try await page.picture()
        let file = try OutputFile(path: path)
        try file.write(Array(picture))
        try file.commit()
    }

    func waitForClose() async { await page.waitForClose() }

    func close() {
        browser.close()
        try? FileManager.default.removeItem(at: file)
        TemporaryFiles.remove(file.path)
    }
}
