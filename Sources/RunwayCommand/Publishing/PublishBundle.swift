import ArgumentParser
import Foundation
import RunwayBundleRepository
import RunwayTUF

/// `runway bundle init`: makes keys and an empty repository.
struct InitBundles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init", abstract: "Make the keys of all roles, and a repository without bundles.",
        usage: "runway bundle init --repository <dir> --keys <dir>")

    @OptionGroup var options: RepositoryOptions

    @Option(help: ArgumentHelp("The number of root keys.", valueName: "number"))
    var rootKeys = 1

    @Option(help: ArgumentHelp("The root keys that must sign.", valueName: "number"))
    var rootThreshold = 1

    func run() throws {
        try options.perform { repository, keys, time in
            try repository.create(keys, at: time, rootKeys: rootKeys, rootThreshold: rootThreshold)
        }
        Console.error.remark(
            "Made a repository. Its metadata/1.root.json goes into the app; store the keys root-… offline.")
    }
}

/// `runway bundle publish`: publishes a folder.
struct PublishBundle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "publish", abstract: "Publish a folder as the next version of a bundle.",
        usage: "runway bundle publish [<options>] --version <n> <folder>")

    @OptionGroup var options: BundleOptions

    @Option(help: ArgumentHelp("The version, higher than the published one.", valueName: "number"))
    var version: Int64

    @Option(help: ArgumentHelp("The percentage of devices, in steps of 0.01.", valueName: "number"))
    var percentage = Percentage(share: Rollout.bucketCount)

    @Option(help: ArgumentHelp("Only for apps with this embedded version or a later one.", valueName: "number"))
    var floor: Int64 = 0

    @Argument(help: "The folder.", completion: .directory)
    var folder: String

    func run() throws {
        try options.perform { repository, target, keys, time in
            try repository.publish(
                URL(filePath: folder), as: target, version: version, share: percentage.share, floor: floor, keys,
                at: time)
            Console.error.remark("Published version \(version) of \(target.path).")
        }
    }
}

/// `runway bundle rollback`: publishes older files again.
struct RollBackBundle: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Publish the files of an older version as the next one.",
        usage: "runway bundle rollback [<options>] --to <n> --version <n>")

    @OptionGroup var options: BundleOptions

    @Option(help: ArgumentHelp("The version whose files return.", valueName: "number"))
    var to: Int64

    @Option(help: ArgumentHelp("The version, higher than the published one.", valueName: "number"))
    var version: Int64

    func run() throws {
        try options.perform { repository, target, keys, time in
            try repository.rollBack(target, to: to, as: version, keys, at: time)
            Console.error.remark("Published version \(version) of \(target.path), with the files of \(to).")
        }
    }
}

/// `runway bundle renew`: signs the timestamp and snapshot again.
struct RenewBundles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "renew", abstract: "Sign timestamp and snapshot again, and targets when they need it.",
        usage: "runway bundle renew --repository <dir> --keys <dir>")

    @OptionGroup var options: RepositoryOptions

    func run() throws {
        try options.perform { repository, keys, time in try repository.commit(keys, at: time) }
    }
}
