import ArgumentParser
import Foundation
import RunwayJSON
import RunwayViews

/// `runway view`: renders a view described by JSON, and lists what it does not know.
struct ViewCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "view", abstract: "Render a view described by JSON, and list its mistakes.",
        usage: "runway view <file> [<options>]",
        discussion: """
            Renders the document as an app with RunwayViews would, as one page of
            HTML on standard output. Each node, attribute or value that is unknown
            or invalid is one line on standard error, with its path. The names of
            a document are in its JSON Schema, which --schema prints.

            The page needs no other file. Images without a scheme are read from
            the folder of the document, in the browser.

            EXAMPLES
              runway view coupon.json --data coupon-data.json > coupon.html
              runway view coupon.json --skin night.json --screenshot coupon.png
              runway view coupon.json --visible --watch
              runway view coupon.json --screenshot ar.png --right-to-left --dark
              runway view --schema > view.schema.json

            EXIT CODES
              0    The document was rendered, and nothing in it is unknown.
              1    The document was rendered without its unknown parts.
              2    The command line or a file can't be used, or there is no
                   Chromium.
              3    The browser does not start or does not show the page.
              130  Ctrl-C. 143 is SIGTERM.
            """)

    /// The document. It is declared optional, so that the parser reports a mistake in the options first.
    @Argument(help: "The document, as JSON.", completion: .file())
    var file: String?

    @Option(help: ArgumentHelp("The data, as JSON. The default is {}.", valueName: "file"), completion: .file())
    var data: String?

    @Option(help: ArgumentHelp("The tokens, as JSON.", valueName: "file"), completion: .file())
    var skin: String?

    @Option(name: .shortAndLong, help: ArgumentHelp("Write the page to a file.", valueName: "file"))
    var output: String?

    @Option(help: ArgumentHelp("Write a picture of the page, as PNG.", valueName: "file"))
    var screenshot: String?

    @Flag(help: "Show the page in a window of Chromium.")
    var visible = false

    @Flag(help: "Render again whenever a file changes, until Ctrl-C.")
    var watch = false

    @Option(help: "The width of the screen in points.")
    var width = 390

    @Option(help: "The height of the screen in points.")
    var height = 844

    @Flag(help: "Use the dark colours.")
    var dark = false

    @Flag(help: "Lay out from right to left.")
    var rightToLeft = false

    @Option(help: ArgumentHelp("The browser. The default is the Chromium in PATH.", valueName: "program"))
    var browser: String?

    @Flag(help: "Print the JSON Schema of documents.")
    var schema = false

    @OptionGroup var colour: ColourOption

    func validate() throws {
        for (option, value) in [("--width", width), ("--height", height)] where !(100...4000).contains(value) {
            throw ValidationError("\(option) needs a number from 100 to 4000.")
        }
        if watch, output == nil, screenshot == nil, !visible {
            throw ValidationError("--watch needs --output, --screenshot or --visible.")
        }
    }

    func run() async throws {
        if schema { return try Console.output.write(ViewSchema.text) }
        guard let file else { throw ValidationError("Missing expected argument '<file>'") }
        let screen = ViewScreen.Size(width: width, height: height, isDark: dark)
        try await Interruption.cancelling {
            let screen =
                if screenshot != nil || visible {
                    try await ViewScreen.open(
                        browser, isVisible: visible, screen, folder: URL(filePath: file).deletingLastPathComponent())
                } else { nil as ViewScreen? }
            defer { screen?.close() }
            let files = try ViewFiles(document: file, data: data, skin: skin)
            let isFine = try await render(files, on: screen)
            try await withThrowingTaskGroup { group in
                if visible, let screen { group.addTask { await screen.waitForClose() } }
                if watch { group.addTask { try await renderChanges(of: files, on: screen) } }
                try await group.next()
                group.cancelAll()
            }
            if !isFine { throw ExitCode(ExitStatus.refused) }
        }
    }

    /// Renders again after each change of a file. What can't be used is reported, and the former page stays.
    private func renderChanges(of first: ViewFiles, on screen: ViewScreen?) async throws {
        var (files, reported) = (first, "")
        while !Task.isCancelled {
            try await Task.sleep(for: .milliseconds(300))
            do {
                let next = try ViewFiles(document: first.document.path, data: data, skin: skin)
                if next == files { continue }
                files = next
                _ = try await render(files, on: screen)
                reported = ""
            } catch let failure as CommandFailure {
                if failure.message != reported { Console.error.report(failure.message) }
                reported = failure.message
            }
        }
    }

    /// Renders the files, and reports the problems of the document. Returns whether there are none.
    private func render(_ files: ViewFiles, on screen: ViewScreen?) async throws -> Bool {
        let view = try files.view()
        let tree = view.tree(of: try files.root(of: files.data))
        for problem in view.problems { Console.error.remark("\(files.document.path): \(problem)") }
        if tree.isTruncated { Console.error.remark("The data are more than a view may show; the rest is left out.") }
        let html = tree.html(ViewPage(title: files.document.path, isRightToLeft: rightToLeft))
        if let output {
            let file = try OutputFile(path: output)
            try file.write(Array(html.utf8))
            try file.commit()
        }
        if let screen {
            try await screen.show(html)
            if let screenshot { try await screen.takePicture(screenshot) }
        } else if output == nil {
            try Console.output.write(html)
        }
        return view.problems.isEmpty
    }
}

/// The files of a view as they were read.
struct ViewFiles: Equatable {
    struct File: Equatable {
        let path: String
        let bytes: [UInt8]
    }

    let document: File
    let data: File
    let skin: File

    /// - Throws: ``CommandFailure`` if a file can't be read.
    init(document: String, data: String?, skin: String?) throws(CommandFailure) {
        let empty = File(path: "", bytes: Array("{}".utf8))
        self.document = File(path: document, bytes: try WholeFile.bytes(document))
        self.data = if let data { File(path: data, bytes: try WholeFile.bytes(data, of: "--data")) } else { empty }
        self.skin = if let skin { File(path: skin, bytes: try WholeFile.bytes(skin, of: "--skin")) } else { empty }
    }

    /// - Throws: ``CommandFailure`` if the document or the skin is invalid.
    func view() throws(CommandFailure) -> ViewDocument {
        let root = try root(of: skin)
        let tokens: ViewSkin
        do { tokens = try ViewSkin(root) } catch { throw CommandFailure("\(skin.path): \(error)") }
        do { return try ViewDocument(document.bytes, skin: tokens) } catch {
            throw CommandFailure("\(document.path): \(error)")
        }
    }

    /// - Throws: ``CommandFailure`` if the file is not JSON.
    func root(of file: File) throws(CommandFailure) -> JSONValue {
        do { return try JSONDocument(file.bytes).root } catch { throw CommandFailure("\(file.path): \(error)") }
    }
}
