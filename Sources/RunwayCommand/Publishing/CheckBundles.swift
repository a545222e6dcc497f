import ArgumentParser
import Foundation
import Hummingbird
import Logging
import RunwayBundleRepository
import RunwayDemo
import RunwayServer
import RunwayTUF

/// `runway bundle verify`: checks a repository.
struct VerifyBundles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Check a repository as a client does, and explain each check.",
        usage: "runway bundle verify [--keys <dir>] <dir>")

    @Option(
        help: ArgumentHelp("The folder with the root to start from.", valueName: "dir"), completion: .directory)
    var keys: String?

    @Argument(help: "The folder of the repository.", completion: .directory)
    var folder: String

    func run() throws {
        let keys = keys.map { KeyFolder(URL(filePath: $0)) }
        let findings = Repository(URL(filePath: folder)).verify(at: RepositoryOptions.now, from: keys)
        for finding in findings { try Console.output.write("\(finding)\n") }
        let failures = findings.filter { !$0.isFine }.count
        guard failures == 0 else {
            throw CommandFailure("\(failures) of \(findings.count) checks failed.", status: ExitStatus.refused)
        }
    }
}

/// `runway bundle status`: prints versions and expiries.
struct ShowBundles: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Print the version and expiry of each role, and the bundles.",
        usage: "runway bundle status <dir>")

    @Argument(help: "The folder of the repository.", completion: .directory)
    var folder: String

    func run() throws {
        let state: Repository.State
        do { state = try Repository(URL(filePath: folder)).state() } catch { throw RepositoryOptions.failure(error) }
        var lines = [line("root", state.root)]
        if let timestamp = state.timestamp { lines.append(line("timestamp", timestamp)) }
        if let snapshot = state.snapshot { lines.append(line("snapshot", snapshot)) }
        if let targets = state.targets { lines.append(line("targets", targets)) }
        for target in (state.targets?.content.files.values.map(\.self) ?? []).sorted(by: { $0.path < $1.path }) {
            let terms = (try? BundleRelease(target.custom))?.sentence ?? "no bundle of Runway"
            lines.append("\(target.path)  \(terms)")
        }
        try Console.output.write(lines.joined(separator: "\n") + "\n")
    }

    private func line<Content>(_ role: String, _ metadata: Metadata<Content>) -> String {
        "\(role)  version \(metadata.version), valid until \(metadata.expires.metadataText)"
    }
}

/// `runway bundle rotate`: replaces the keys of a role.
struct RotateRole: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replace the keys of a role, and sign everything again.",
        usage: "runway bundle rotate --repository <dir> --keys <dir> <role>")

    @OptionGroup var options: RepositoryOptions

    @Argument(help: "The role: root, timestamp, snapshot or targets.")
    var role: TopLevelRole

    func run() throws {
        try options.perform { repository, keys, time in try repository.rotate(role, keys, at: time) }
        Console.error.remark("The keys of \(role.rawValue) are replaced.")
    }
}

/// `runway bundle revoke`: removes a key of a role.
struct RevokeRoleKey: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "Remove one key of a role, and sign everything again.",
        usage: "runway bundle revoke --repository <dir> --keys <dir> <role> <id>")

    @OptionGroup var options: RepositoryOptions

    @Argument(help: "The role: root, timestamp, snapshot or targets.")
    var role: TopLevelRole

    @Argument(help: "The first digits of the key's identifier, at least 8.")
    var id: String

    func run() throws {
        try options.perform { repository, keys, time in try repository.revoke(id, of: role, keys, at: time) }
        Console.error.remark("The key is revoked.")
    }
}

/// `runway bundle serve`: serves a repository on this machine.
struct ServeBundles: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Serve a repository to this machine, without TLS.",
        usage: "runway bundle serve <dir> [--port <port>]")

    @Argument(help: "The folder of the repository.", completion: .directory)
    var folder: String

    @Option(help: ArgumentHelp("The port. Without it, any that is free.", valueName: "port"))
    var port = 0

    func run() async throws {
        let (folder, port) = (folder, port)
        do { _ = try Repository(URL(filePath: folder)).state() } catch { throw RepositoryOptions.failure(error) }
        do {
            try await Interruption.cancelling(forcedStatus: { _ in ExitStatus.fine }) {
                let router = Router(context: BasicSignedRequestContext.self)
                let silent = Logger(label: "runway.bundles", factory: { _ in SwiftLogNoOpLogHandler() })
                router.add(middleware: FileMiddleware(folder, logger: silent))
                let server = BoundedServer(
                    GuardedRouter(router, .loopback), host: "127.0.0.1", port: port, certificate: nil)
                try await server.run { url, _ in
                    try? Console.output.write("Serving \(url)/metadata/ and \(url)/targets/.\nCtrl-C stops it.\n")
                }
            }
        } catch is Interruption.Signalled {
            return
        }
    }
}
