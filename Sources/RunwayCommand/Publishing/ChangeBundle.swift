import ArgumentParser
import RunwayBundleRepository
import RunwayTUF

/// `runway bundle change`: changes the terms of the published version.
struct ChangeBundle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "change", abstract: "Change the roll-out or the kill switch of the published version.",
        usage: "runway bundle change [<options>] [--percentage <n>] [--stop | --resume]")

    @OptionGroup var options: BundleOptions

    @Option(help: ArgumentHelp("The percentage of devices; 0 pauses the roll-out.", valueName: "number"))
    var percentage: Percentage?

    @Flag(help: "The kill switch: devices return to their embedded copy.")
    var stop = false

    @Flag(help: "Turn the kill switch off.")
    var resume = false

    func validate() throws {
        guard percentage != nil || stop || resume else { throw ValidationError("Nothing is to be changed.") }
        guard !(stop && resume) else { throw ValidationError("--stop and --resume exclude each other.") }
    }

    func run() throws {
        try options.perform { repository, target, keys, time in
            let release = try repository.change(
                target, share: percentage?.share, isStopped: stop ? true : resume ? false : nil, keys, at: time)
            Console.error.remark("\(target.path): \(release.sentence)")
        }
    }
}

/// `runway bundle tally`: counts what became of the published version, and pauses its roll-out.
struct TallyBundle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tally", abstract: "Count records of an action log, and pause a bad roll-out.",
        usage: "runway bundle tally [<options>] [--pause-above <number>] < records.jsonl",
        discussion: """
            Standard input has the records of the server's action log, one JSON object
            a line. Those of the published version are counted: records, and not
            devices. With --pause-above the roll-out becomes 0 % if the condemnations
            are a larger percentage of the installations, and the exit code is 1.
            """)

    @OptionGroup var options: BundleOptions

    @Option(help: ArgumentHelp("The percentage of condemnations.", valueName: "number"))
    var pauseAbove: Double?

    @Option(help: ArgumentHelp("The number of condemnations that pausing takes.", valueName: "number"))
    var atLeast = 10

    func validate() throws {
        guard pauseAbove.map({ (0..<100).contains($0) }) ?? true, atLeast >= 1 else {
            throw ValidationError("The percentage is from 0 to below 100, and the number at least 1.")
        }
    }

    func run() throws {
        let isPaused = try options.perform { repository, target, keys, time in
            let (release, sha256) = try repository.published(target, keys)
            var tally = FleetTally(of: release.version, sha256)
            while let line = readLine() { tally.add(Array(line.utf8)) }
            try Console.output.write("\(tally.sentence)\n")
            guard let pauseAbove, tally.exceeds(pauseAbove, atLeast: atLeast) else { return false }
            if release.rollout.share > 0 { try repository.change(target, share: 0, keys, at: time) }
            return true
        }
        if isPaused { throw CommandFailure("The roll-out is paused.", status: ExitStatus.refused) }
    }
}

/// A percentage with up to two decimal places, as a share of 10,000.
struct Percentage: ExpressibleByArgument, CustomStringConvertible {
    let share: Int64

    init(share: Int64) { self.share = share }

    init?(argument: String) {
        guard let match = argument.wholeMatch(of: /(\d{1,3})(?:\.(\d{1,2}))?/), let whole = Int64(match.1) else {
            return nil
        }
        let hundredths = match.2.flatMap { Int64($0.count == 1 ? "\($0)0" : String($0)) } ?? 0
        share = whole * 100 + hundredths
        guard share <= Rollout.bucketCount else { return nil }
    }

    var description: String {
        share.isMultiple(of: 100) ? "\(share / 100)" : "\(share / 100).\(share % 100 < 10 ? "0" : "")\(share % 100)"
    }

    var defaultValueDescription: String { description }
}

extension BundleRelease {
    /// The terms in words.
    var sentence: String {
        let floor = floor == 0 ? "" : ", over embedded version \(floor) or later"
        return "version \(version) for \(Percentage(share: rollout.share)) % of devices\(floor)"
            + (isStopped ? "; STOPPED: devices use their embedded copy" : "")
    }
}
