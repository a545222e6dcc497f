import ArgumentParser
import Foundation
import RunwayBridge
import RunwayChromium

/// `runway page`: opens a page in Chromium with a bridge, and prints its calls.
struct PageCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "page", abstract: "Try a page that calls an app, in Chromium and without the app.",
        usage: "runway page <url> [<options>]",
        discussion: """
            Opens the page as an app with Runway's bridge would, and prints one line
            for each call of the page and for each refusal. What the page writes to
            its console is on standard error.

            FILE says which origin may call which commands, and what they return:
              { "https://m.example.com": {
                  "orders.list": { "output": [{ "id": 7 }] },
                  "orders.upload": { "unsafe": true, "parts": [0.5, 1],
                                     "seconds": 2, "output": "done" },
                  "orders.photo": { "file": "photo.png" },
                  "orders.pay": { "error": { "kind": "denied",
                                             "message": "No card." } } } }
            "unsafe" needs a gesture of the user, "seconds" is how long it takes,
            "file" is relative to FILE. Without FILE every call is refused.
            A bundle that an app embeds has the origin runway-bundle://NAME.

            EXAMPLES
              runway page https://m.example.com/shop --allow shop.json
              runway page http://localhost:8080/ --allow shop.json --visible
              runway page http://localhost:8080/ --count 3 --json
              runway page runway-bundle://help/ --bundle help=dist

            EXIT CODES
              0    The window was closed, or --count has come.
              2    The command line or FILE can't be used; there is no Chromium.
              3    The page can't be loaded, or the browser does not start.
              130  Ctrl-C. 143 is SIGTERM.
            """)

    /// The URL. It is declared optional, so that the parser reports a mistake in the options first.
    @Argument(help: "The URL of the page.")
    var url: String?

    @Option(
        help: ArgumentHelp("The commands that origins may call, as JSON.", valueName: "file"), completion: .file())
    var allow: String?

    @Option(help: ArgumentHelp("Serve a folder as runway-bundle://NAME/.", valueName: "name=folder"))
    var bundle: [String] = []

    @Flag(help: "Show a window.")
    var visible = false

    @Option(help: ArgumentHelp("The browser, unless it is the first Chromium of PATH.", valueName: "program"))
    var browser: String?

    @Option(help: ArgumentHelp("End after so many lines.", valueName: "number"))
    var count: Int?

    @Flag(help: "Print one JSON object a line.")
    var json = false

    @OptionGroup var colour: ColourOption

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count needs a number above 0.") }
    }

    func run() async throws {
        guard let url else { throw ValidationError("Missing expected argument '<url>'") }
        let scheme = URL(string: url)?.scheme?.lowercased() ?? ""
        guard ["http", "https", RunwayBridge.Origin.bundleScheme].contains(scheme) else {
            throw CommandFailure("The URL has to begin with http://, https:// or runway-bundle://.")
        }
        let bundles = try Self.bundles(of: bundle)
        let capabilities = try allow.map { try AllowFile.capabilities(of: $0) } ?? []
        guard let program = browser ?? ChromiumBrowser.installed else {
            throw CommandFailure("There is no Chromium in PATH; --browser names one.")
        }
        let printer = PagePrinter(isJSON: json, count: count)
        let bridge = Bridge(capabilities: capabilities, bundles: bundles, sinks: [printer])
        try await Interruption.cancelling {
            let browser: ChromiumBrowser
            do { browser = try await ChromiumBrowser(program: program, isVisible: visible) } catch {
                throw CommandFailure("The browser does not start: \(error).", status: ExitStatus.noResponse)
            }
            defer { browser.close() }
            do {
                let page = try await browser.openPage(bridge)
                page.onLog { Console.error.remark($0) }
                try await page.load(url)
                try await withThrowingTaskGroup { group in
                    group.addTask { await page.waitForClose() }
                    group.addTask { try await printer.waitForCount() }
                    try await group.next()
                    group.cancelAll()
                }
            } catch let error as ChromiumError {
                throw CommandFailure("The page can't be loaded: \(error).", status: ExitStatus.noResponse)
            }
        }
    }

    private static func bundles(of texts: [String]) throws(CommandFailure) -> [BundleFiles] {
        var names: Set<Substring> = []
        return try texts.map { text throws(CommandFailure) in
            let name = text.prefix { $0 != "=" }
            guard RunwayBridge.Origin(serialized: "\(RunwayBridge.Origin.bundleScheme)://\(name)") != nil,
                name.count < text.count, names.insert(name).inserted
            else { throw CommandFailure("\"\(text)\" is no NAME=FOLDER with a name of small letters, or repeated.") }
            return BundleFiles(String(name), in: URL(filePath: String(text.dropFirst(name.count + 1))))
        }
    }
}
