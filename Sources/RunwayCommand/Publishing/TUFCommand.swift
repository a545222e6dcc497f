import ArgumentParser
import Foundation
import Runway
import RunwayBundles
import RunwaySignatures
import RunwayTUF
import RunwayTransport

/// `runway bundle tuf`: a client of any repository of The Update Framework, with the command line that its conformance
/// suite drives.
struct TUFCommand: AsyncParsableCommand {
    enum Action: String, ExpressibleByArgument, CaseIterable {
        case `init`, refresh, download
    }

    static let configuration = CommandConfiguration(
        commandName: "tuf", abstract: "Update from any repository of The Update Framework.",
        usage: "runway bundle tuf --metadata-dir <dir> [<options>] <action> [<root>]")

    @Option(help: ArgumentHelp("The folder of trusted metadata.", valueName: "dir"), completion: .directory)
    var metadataDir: String

    @Option(help: ArgumentHelp("The URL below which the metadata is.", valueName: "url"))
    var metadataUrl: String?

    @Option(help: ArgumentHelp("The path of the target.", valueName: "path"))
    var targetName: String?

    @Option(help: ArgumentHelp("The URL below which the targets are.", valueName: "url"))
    var targetBaseUrl: String?

    @Option(help: ArgumentHelp("The folder for the target.", valueName: "dir"), completion: .directory)
    var targetDir: String?

    @Argument(help: "init, refresh or download.")
    var action: Action

    @Argument(help: "With init, the file of the trusted root.", completion: .file())
    var root: String?

    func run() async throws {
        do {
            switch action {
            case .`init`: try initialise()
            case .refresh: try await withNetwork { network in _ = try await refresh(on: network) }
            case .download: try await withNetwork(download)
            }
        } catch let error as ValidationError {
            throw error
        } catch {
            throw CommandFailure("\(error)", status: ExitStatus.refused)
        }
    }

    private func initialise() throws {
        guard let root else { throw ValidationError("init needs the file of the trusted root.") }
        let bytes = Array(try Data(contentsOf: URL(filePath: root)))
        _ = try TrustedMetadata(root: bytes, at: RepositoryOptions.now)
        let folder = URL(filePath: metadataDir)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try PrivateFile.replace(folder.appending(path: "root.json").path, with: bytes)
    }

    private func refresh(on network: NetworkLayer) async throws -> (MetadataUpdater, VerifiedTargets) {
        let repository = try repository(metadataUrl, of: "--metadata-url", on: network)
        let updater = MetadataUpdater(MetadataFolder(URL(filePath: metadataDir)), embeddedRoot: nil) {
            try await repository.metadata($0, upTo: $1)
        }
        return (updater, try await updater.refresh(at: RepositoryOptions.now))
    }

    private func download(on network: NetworkLayer) async throws {
        guard let targetName, let targetDir else {
            throw ValidationError("download needs --target-name and --target-dir.")
        }
        let repository = try repository(targetBaseUrl, of: "--target-base-url", on: network)
        let (updater, verified) = try await refresh(on: network)
        let target = try await updater.target(targetName, in: verified)
        let file = URL(filePath: targetDir).appending(path: MetadataName.escaped(targetName))
        if let data = try? Data(contentsOf: file), target.digest.matches(Array(data)) { return }
        let length = Int(clamping: target.digest.length ?? 0)
        guard let bytes = try await repository.target(verified.fileName(of: target), upTo: length) else {
            throw CommandFailure("The repository has no file for \(targetName).", status: ExitStatus.refused)
        }
        guard target.digest.matches(bytes) else {
            throw CommandFailure("The file has another length or hash than its metadata.", status: ExitStatus.refused)
        }
        try PrivateFile.replace(file.path, with: bytes)
    }

    private func repository(
        _ url: String?, of option: String, on network: NetworkLayer
    ) throws -> RepositoryNetwork {
        guard let repository = url.flatMap({ RepositoryNetwork($0, on: network) }) else {
            throw ValidationError("\(option) needs a URL of http or https.")
        }
        return repository
    }

    private func withNetwork(_ body: @escaping @Sendable (NetworkLayer) async throws -> Void) async throws {
        let transport = try NIOTransport(configuration: TransportConfiguration())
        let network = NetworkLayer(name: "tuf", transport: transport)
        do {
            try await Interruption.cancelling { try await body(network) }
        } catch {
            await transport.shutdown(waitingAtMost: .zero)
            throw error
        }
        await transport.shutdown(waitingAtMost: .zero)
    }
}
