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
            Opens the page as an app with Runway's bridge would. Prints one line for
            each call that the page makes, and for each call that is refused. The
            console messages of the page are printed on standard error.

            FILE lists, for each origin, the commands that its pages may call, and
            the value that each command returns:
              { "https://m.example.com": {
                  "orders.list": { "output": [{ "id": 7 }] },
                  "orders.upload": { "unsafe": true, "parts": [0.5, 1],
                                     "seconds": 2, "output": "done" },
                  "orders.photo": { "file": "photo.png" },
                  "orders.pay": { "error": { "kind": "denied",
                                             "message": "No card." } } } }
              "output"   The value to return. The default is null.
              "file"     A file whose bytes are returned, relative to FILE.
              "error"    The error with which the call fails.
              "parts"    Values that are sent before the output, as progress.
              "seconds"  The time that the call takes. The default is 0.
              "unsafe"   Whether the call needs a click or a key press of the user.
            Without --allow every call is refused. The pages of a bundle that an
            app embeds have the origin runway-bundle://NAME.

            EXAMPLES
              runway page https://m.example.com/shop --allow shop.json
              runway page http://localhost:8080/ --allow shop.json --visible
              runway page http://localhost:8080/ --count 3 --json
              runway page runway-bundle://help/ --bundle help=dist

            EXIT CODES
              0    The window was closed, or --count lines were printed.
              2    The command line or FILE is invalid, or Chromium is not found.
              3    The page can't be loaded, or the browser does not start.
              130  Ctrl-C. 143 is SIGTERM.
            """)

    /// The URL. It is declared optional, so that the parser reports a mistake in the options first.
    @Argument(help: "The URL of the page.")
    var url: String?

    @Option(
        help: ArgumentHelp("The origins and their commands, as JSON.", valueName: "file"), completion: .file())
    var allow: String?

    @Option(help: ArgumentHelp("Serve the files of a folder as runway-bundle://NAME/.", valueName: "name=folder"))
    var bundle: [String] = []

    @Flag(help: "Show the browser's window. By default it has none.")
    var visible = false

    @Option(help: ArgumentHelp("The browser to start. The default is the Chromium in PATH.", valueName: "program"))
    var browser: String?

    @Option(help: ArgumentHelp("Exit after this number of printed lines.", valueName: "number"))
    var count: Int?

    @Flag(help: "Print each line as a JSON object.")
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
