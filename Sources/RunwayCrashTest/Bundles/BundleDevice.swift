import ArgumentParser
import Foundation
import Runway
import RunwayBundles
import RunwayTUF
import RunwayTransport

/// An app that launches its bundle, checks every file of it, and installs new versions, until it is killed.
struct BundleDevice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "bundle-device", shouldDisplay: false)

    @Option var files: String
    @Option var url: String
    @Option var bug: BundleBug?

    func run() async throws {
        let files = DeviceFiles(folder: URL(fileURLWithPath: files))
        let log = try AppendedFile(files.log)
        let network = NetworkLayer(
            transport: try NIOTransport(), limits: LayerLimits(admission: .none, retrying: .none))
        say("started")
        let root = try Data(contentsOf: files.site.appending(path: "metadata/1.root.json"))
        let store = try BundleStore(
            in: files.device, embedded: EmbeddedBundle(files.embedded, version: BundleSite.embedded),
            from: BundleSource(url, root: Array(root), bundle: "crash"), on: network
        ) { record in
            try? log.append(line: "\(record.kind) \(record.bundle?.version ?? 0) \(record.detail)")
        }
        while true {
            let state = files.device.appending(path: "state.json")
            let former = try? Data(contentsOf: state)
            let bundle = store.launch()
            try log.append(line: "run \(bundle.id.version)")
            if bug == .uncounted { try former?.write(to: state) }
            for problem in Self.problems(of: bundle) { try log.append(line: "finding \(bundle.id) \(problem)") }
            if try bundle.read("broken") == nil { try store.ready(bundle.id) }
            await store.check()
            if bug == .inPlace { try await Self.writeInPlace(files.device.appending(path: "files")) }
        }
    }

    /// Compares every file of a bundle with the index that is one of them.
    private static func problems(of bundle: RunningBundle) -> [String] {
        do {
            func text(_ path: String) throws -> String {
                String(decoding: try bundle.read(path) ?? Data(), as: UTF8.self)
            }
            var problems: [String] = []
            if try text("version") != "\(bundle.id.version)" { problems.append("has the version of another bundle") }
            let lines = try text("index").split(separator: "\n")
            if lines.count != 30 { problems.append("has no index") }
            for line in lines {
                let parts = line.split(separator: " ").map(String.init)
                let bytes = try bundle.read(parts[0]).map(Array.init)
                if bytes.map(Hexadecimal.sha256) != parts[1] { problems.append("has another \(parts[0])") }
            }
            return problems
        } catch {
            return ["can't be read: \(error)"]
        }
    }

    private static func writeInPlace(_ folder: URL) async throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let file = folder.appending(path: name)
            let bytes = try Data(contentsOf: file)
            let handle = try FileHandle(forUpdating: file)
            try handle.truncate(atOffset: UInt64(bytes.count / 2))
            try await Task.sleep(for: .milliseconds(1))
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: bytes)
            try handle.close()
        }
    }
}
