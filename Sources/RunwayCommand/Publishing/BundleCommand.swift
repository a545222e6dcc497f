import ArgumentParser
import Foundation
import RunwayBundleRepository
import RunwaySignatures
import RunwayTUF

/// `runway bundle`: publishes bundles, and checks and rotates what signs them.
struct BundleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bundle", abstract: "Publish bundles of files that devices can trust.",
        usage: "runway bundle <subcommand>",
        discussion: """
            A repository is a folder that any static host can serve: metadata/,
            targets/ and files/. Its metadata is that of The Update Framework 1.0.
            Only timestamp.json is ever replaced, last, so that a client sees one
            publication whole. With the same keys, files and time (in seconds since
            1970, from SOURCE_DATE_EPOCH), the same bytes are written.

            Keys are files of mode 0600, one each, named by their role. Only init,
            rotate and revoke need those of the root: store them offline. Beside the
            keys is trusted-root.json, from which a repository is verified before
            anything is signed. A timestamp is valid for 14 days: run renew each day.

            EXAMPLES
              runway bundle init --repository site --keys keys
              runway bundle publish --repository site --keys keys --version 7 dist
              runway bundle change --repository site --keys keys --percentage 50
              runway bundle rollback --repository site --keys keys --to 6 --version 8
              runway bundle verify --keys keys site
              runway bundle serve site --port 8080
              runway bundle tuf --metadata-dir known init site/metadata/1.root.json
              runway bundle tuf --metadata-dir known \\
                --metadata-url http://127.0.0.1:8080/metadata refresh

            EXIT CODES
              0    It was done, and all is fine; or serve was stopped.
              1    A check failed, or an update was refused.
              2    The command line or a file can't be used.
              130  Ctrl-C. 143 is SIGTERM.
            """,
        subcommands: [
            InitBundles.self, PublishBundle.self, ChangeBundle.self, TallyBundle.self, RollBackBundle.self,
            RenewBundles.self, VerifyBundles.self, ShowBundles.self, RotateRole.self, RevokeRoleKey.self,
            ServeBundles.self, TUFCommand.self,
        ])
}

/// The folders of a repository and of its keys.
struct RepositoryOptions: ParsableArguments {
    @Option(
        name: .customLong("repository"), help: ArgumentHelp("The folder of the repository.", valueName: "dir"),
        completion: .directory)
    var folder: String

    @Option(help: ArgumentHelp("The folder of private keys.", valueName: "dir"), completion: .directory)
    var keys: String

    func validate() throws {
        guard !keyFolder.isWithin(repository) else {
            throw ValidationError("The folder of keys is in the repository, which is served to everyone.")
        }
    }

    var repository: Repository { Repository(URL(filePath: folder)) }
    var keyFolder: KeyFolder { KeyFolder(URL(filePath: keys)) }

    /// Runs an operation and returns its result. Its errors become failures of the command.
    @discardableResult
    func perform<Result>(_ operation: (Repository, KeyFolder, UnixTime) throws -> Result) throws -> Result {
        do { return try operation(repository, keyFolder, Self.now) } catch { throw Self.failure(error) }
    }

    static func failure(_ error: any Error) -> CommandFailure {
        let reason = (error as? MalformedMetadata)?.reason
        return CommandFailure(reason.map { "The metadata or a path is invalid: \($0)." } ?? "\(error)")
    }

    /// The time of signatures: SOURCE_DATE_EPOCH if it is set, or now.
    static var now: UnixTime {
        let fixed = ProcessInfo.processInfo.environment["SOURCE_DATE_EPOCH"].flatMap { Int64($0) }
        return UnixTime(seconds: fixed ?? Int64(Date().timeIntervalSince1970))
    }
}

/// The bundle that an operation is for, in a repository.
struct BundleOptions: ParsableArguments {
    @OptionGroup var folders: RepositoryOptions

    @Option(help: ArgumentHelp("The bundle.", valueName: "name"))
    var bundle = "app"

    @Option(help: ArgumentHelp("The channel.", valueName: "name"))
    var channel = "release"

    @Option(help: ArgumentHelp("The version of the runtime in the app.", valueName: "name"))
    var runtime = "1"

    func validate() throws { _ = try target() }

    /// Runs an operation on the bundle and returns its result. Its errors become failures of the command.
    @discardableResult
    func perform<Result>(
        _ operation: (Repository, BundleTarget, KeyFolder, UnixTime) throws -> Result
    ) throws -> Result {
        let target = try target()
        return try folders.perform { repository, keys, time in try operation(repository, target, keys, time) }
    }

    private func target() throws -> BundleTarget {
        guard let target = BundleTarget(bundle: bundle, channel: channel, runtime: runtime) else {
            throw ValidationError("Names have letters, digits, - _ and . only, and at most 64 of them.")
        }
        return target
    }
}

extension TopLevelRole: ExpressibleByArgument {}
