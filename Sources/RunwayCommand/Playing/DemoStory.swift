import Runway
import RunwayDemo

/// The report of a demo in 80 columns. Each part has the user's action, some rows of the screen, and the requests that
/// the action caused, with the reason. The totals and the table of addresses follow.
struct DemoStory {
    private static let columns = 80
    private let report: DemoReport
    private var text: ConsoleText
    /// Whether a block was appended, so that a blank line has to precede the next block.
    private var hasBlocks = false

    /// Formats a report, with styles if `console` supports them.
    static func text(of report: DemoReport, for console: Console) -> ConsoleText {
        var story = DemoStory(report: report, text: ConsoleText(for: console))
        for part in DemoPart.allCases { story.append(part) }
        if let signing = report.signing { story.append(signing) }
        if let log = report.log { story.append(log) }
        if let train = report.train { story.append(train) }
        if let chat = report.chat { story.append(chat) }
        if let saving = report.saving { story.append(saving) }
        if let devices = report.devices { story.append(devices) }
        if let bundles = report.bundles { story.append(bundles) }
        if let views = report.views { story.append(views) }
        if !report.scenes.isEmpty { story.appendTotals() }
        if let hosts = report.hosts { story.append(hosts) }
        story.appendProblems()
        return story.text
    }

    private init(report: DemoReport, text: ConsoleText) {
        self.report = report
        self.text = text
    }

    private mutating func append(_ part: DemoPart) {
        let scenes = report.scenes.filter { $0.part == part }
        if scenes.isEmpty { return }
        title(part, Self.count(scenes.map(\.calls), "call"), Self.count(scenes.map(\.requests), "request"))
        for row in Self.rows(of: part, in: scenes) { line("    \(row)", row.hasPrefix("⚠︎") ? .yellow : .dim) }
    }

    /// Appends a blank line before every block except the first.
    private mutating func beginBlock() {
        if hasBlocks { line("") }
        hasBlocks = true
    }

    /// Appends the title of a part: the user's action, its cost, and its effect in the layer.
    private mutating func title(_ part: DemoPart, _ cost: String...) {
        beginBlock()
        let cost = cost.joined(separator: ", ")
        text.append(part.action.padded(to: Self.columns - cost.count - 1), .bold)
        line(" \(cost)", .cyan)
        line("  \(part.effect)")
    }

    /// Returns the first row of a screen. If another screen shows a different first row, such as an error or another
    /// format, returns that row, too.
    private static func rows(of part: DemoPart, in scenes: [DemoReport.Scene]) -> [String] {
        let rows = scenes.map(\.screen).filter { !$0.isEmpty }.prefix(2).map { $0[0] }
        guard rows.count == 2, rows[0] != rows[1], part == .lists || rows[1].hasPrefix("⚠︎") else {
            return Array(rows.prefix(1))
        }
        return rows
    }

    /// Appends the totals: calls on the left, and requests on the right.
    private mutating func appendTotals() {
        beginBlock()
        line("In all, on the app's screens", .bold)
        let carrying = report.envelopes.map(\.attempts.count)
        let calls =
            [(report.callsSent, "sent a request")]
            + UnsentReason.allCases.map { (report.callsNotSent[$0] ?? 0, $0.reason) }
        let requests =
            [(report.callsSent, "the first of a call")]
            + Repetition.allCases.map { (report.requestsRepeated[$0] ?? 0, $0.reason) }
            + [(carrying.reduce(0, +), "for several calls")]
        let left = ["\(Self.count([report.calls], "call"))"] + Self.sum(calls)
        let right = ["\(Self.count([report.requestsOnTheWire], "request"))"] + Self.sum(requests)
        for index in 0..<max(left.count, right.count) {
            let call = index < left.count ? left[index] : ""
            line("  " + (index < right.count ? "\(call.padded(to: 41)) \(right[index])" : call))
        }
    }

    /// Appends the attempts of the signing tour and their outcomes, two per line.
    private mutating func append(_ signing: SigningTourReport) {
        title(.signing, Self.count([signing.calls], "call"), Self.count([signing.requests], "request"))
        let attempts = signing.rows.map { "\($0.title.prefix { $0 != ":" }): \($0.briefOutcome)" }
        for start in stride(from: 0, to: attempts.count, by: 2) {
            let second = start + 1 < attempts.count ? " \(attempts[start + 1])" : ""
            line("    \(attempts[start].padded(to: 41))\(second)", .dim)
        }
    }

    /// Appends one line per step of the tour, in aligned columns.
    private mutating func append(_ hosts: HostTourReport) {
        beginBlock()
        line(DemoPart.addresses.action, .bold)
        line("  \(DemoPart.addresses.effect)")
        let addresses = hosts.addresses.sorted { $0.key < $1.key }.map { "\($0)  \($1)" }
        for start in stride(from: 0, to: addresses.count, by: 2) {
            let second = start + 1 < addresses.count ? addresses[start + 1] : ""
            line("  \(addresses[start].padded(to: 37)) \(second)", .dim)
        }
        func name(_ address: String) -> String {
            hosts.addresses[address].map { String($0.prefix { $0 != "," }) } ?? address
        }
        row("", ("dialled", .bold), ("used", .bold), ("ms", .bold))
        for step in hosts.rows {
            let dialled = step.dialled.map(name).joined(separator: " ")
            let won = step.won.map(name)
            row(
                step.title, (dialled, .cyan), (won ?? "none", won == nil ? .red : .green),
                ("\(step.milliseconds)", .dim))
        }
    }

    private mutating func row(
        _ title: String, _ dialled: (String, Console.Style), _ won: (String, Console.Style),
        _ time: (String, Console.Style)
    ) {
        text.append("  \(title.padded(to: 42)) ")
        text.append(dialled.0.padded(to: 21), dialled.1)
        text.append(" ")
        text.append(won.0.padded(to: 8), won.1)
        text.append(" ")
        text.append(String(repeating: " ", count: max(0, 4 - time.0.count)) + time.0, time.1)
        text.append("\n")
    }

    /// Appends the counts of the app and the server.
    private mutating func append(_ log: LogTourReport) {
        title(.log, Self.count([log.recorded], "action"), Self.count([log.requests], "request"))
        line("    \(log)", .dim)
    }

    /// Appends the screen that the app shows without a network.
    private mutating func append(_ train: TrainTourReport) {
        let requests = train.detailRequests + train.effects + train.repeated
        title(.train, Self.count([train.openings, train.changes], "call"), Self.count([requests], "request"))
        for row in train.screen { line("    \(row)", .dim) }
    }

    /// Appends the end of the conversation as both screens show it.
    private mutating func append(_ chat: ChatTourReport) {
        title(.chat, Self.count([chat.written], "message"), "\(chat.stored) stored")
        line("    \(chat.screen.suffix(2).joined(separator: "   "))", .dim)
    }

    /// Appends a home that the user saved, as the two views of the app show it.
    private mutating func append(_ saving: SavingTourReport) {
        title(.saving, Self.count([saving.homes], "home"), Self.count([saving.listRequests], "request"))
        for row in saving.screen { line("    \(row)", .dim) }
    }

    /// Appends the question about the conflict, and its note and the one with a photo, as both devices show them in the
    /// end.
    private mutating func append(_ devices: DevicesTourReport) {
        title(.devices, Self.count([devices.offline], "change"), Self.count([devices.conflictsAsked], "conflict"))
        for row in devices.questions + devices.screen.dropFirst().prefix(2) { line("    \(row)", .dim) }
    }

    /// Appends the version that each launch of the first device showed, and the page of the last one.
    private mutating func append(_ bundles: BundlesTourReport) {
        title(.bundles, Self.count([bundles.fleet + 1], "device"), "\(bundles.chosen) in 30 %")
        line("    \(bundles.screen.map { $0.prefix { $0 != ":" } }.joined(separator: " → "))", .dim)
        line("    \(bundles.screen.last ?? "")", .dim)
    }

    /// Appends the card that the app contains, and the nodes that came with the bundle.
    private mutating func append(_ views: ViewsTourReport) {
        title(.views, Self.count([views.nodes], "node"), Self.count([views.edits], "edit"))
        line("    \(views.screen.joined(separator: "  "))", .dim)
        line("    + \(views.inserted.joined())", .dim)
    }

    private mutating func appendProblems() {
        beginBlock()
        if report.problems.isEmpty {
            let hasRecords = !report.flights.isEmpty || report.signing != nil || report.hosts != nil
            let hint = hasRecords ? " --verbose prints what was decided for each call." : ""
            return line("Everything was as expected.\(hint)", .green)
        }
        line("Not as expected", .red)
        for problem in report.problems { text.append("  \(problem)\n") }
    }

    private mutating func line(_ content: String, _ style: Console.Style? = nil) {
        text.append(content.fitted(to: Self.columns), content.isEmpty ? nil : style)
        text.append("\n")
    }

    /// Formats the counts that are not zero, with aligned numbers.
    private static func sum(_ parts: [(count: Int, what: String)]) -> [String] {
        parts.filter { $0.count > 0 }.map { part in
            String(repeating: " ", count: max(0, 4 - "\(part.count)".count)) + "\(part.count) \(part.what)"
        }
    }

    private static func count(_ numbers: [Int], _ noun: String) -> String {
        let number = numbers.reduce(0, +)
        return "\(number) \(noun)\(number == 1 ? "" : "s")"
    }
}
