#if Command
    package import Foundation
    import Hummingbird
    import Logging
    package import Runway
    import RunwayBundleRepository
    package import RunwayBundles
    import RunwaySignatures
    import RunwayTUF
    import RunwayTransport

    /// A signed repository of one bundle in a folder of its own, and the server that serves it.
    ///
    /// The keys, the server, the sockets and the files of all devices are real.
    package struct BundleSite: Sendable {
        /// The address of the server.
        let url: String
        /// The layer of all devices.
        package let network: NetworkLayer
        let repository: Repository
        let keys: KeyFolder
        let target: BundleTarget
        private let folder: URL

        static var now: UnixTime { UnixTime(seconds: Int64(Date().timeIntervalSince1970)) }

        /// Serves a repository that has no version yet while `body` runs. Then removes all files.
        ///
        /// - Parameters:
        ///   - bundle: The name of the bundle.
        ///   - embedded: The files of version 1, which the app contains, by their paths.
        ///   - routes: Adds the other routes of the server.
        /// - Throws: The error of the server, of the disk and of `body`.
        static func serve<Value>(
            _ bundle: String, embedded: [String: String],
            adding routes: (Router<BasicRequestContext>) -> Void = { _ in },
            while body: (BundleSite) async throws -> Value
        ) async throws -> Value {
            let folder = FileManager.default.temporaryDirectory.appending(path: "runway-demo-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            guard let target = BundleTarget(bundle: bundle, channel: "release", runtime: "1") else {
                preconditionFailure("the names are valid")
            }
            let repository = Repository(folder.appending(path: "site"))
            let keys = KeyFolder(folder.appending(path: "keys"))
            try repository.create(keys, at: now)
            let router = Router()
            routes(router)
            let silent = Logger(label: "runway.demo", factory: { _ in SwiftLogNoOpLogHandler() })
            router.add(middleware: FileMiddleware(repository.url.path, logger: silent))
            return try await BoundedServer(router).serve { url, _ in
                let transport = try NIOTransport()
                let site = BundleSite(
                    url: url, network: NetworkLayer(name: "bundles", transport: transport), repository: repository,
                    keys: keys, target: target, folder: folder)
                do {
                    try site.write("embedded", embedded)
                    let value = try await body(site)
                    await transport.shutdown(waitingAtMost: .zero)
                    return value
                } catch {
                    await transport.shutdown(waitingAtMost: .zero)
                    throw error
                }
            }
        }

        /// Returns a file of a name that no two callers may share.
        package func file(_ name: String) -> URL { folder.appending(path: name) }

        /// Publishes files as a version of the bundle.
        ///
        /// - Parameters:
        ///   - files: The files, by their paths.
        ///   - share: The share of devices in units of 0.01 %. The default is all of them.
        package func publish(_ version: Int64, _ files: [String: String], share: Int64 = 10_000) throws {
            let folder = try write("dist-\(version)", files)
            try repository.publish(folder, as: target, version: version, share: share, keys, at: Self.now)
        }

        /// Opens the bundles of a device, which contains version 1.
        package func store(
            _ device: String, onRecord: @escaping @Sendable (BundleRecord) -> Void = { _ in }
        ) throws -> BundleStore {
            let root = try Data(contentsOf: repository.url.appending(path: "metadata/1.root.json"))
            return try BundleStore(
                in: file(device), embedded: EmbeddedBundle(file("embedded"), version: 1),
                from: BundleSource(url, root: Array(root), bundle: target.bundle), on: network, onRecord: onRecord)
        }

        @discardableResult private func write(_ name: String, _ files: [String: String]) throws -> URL {
            for (path, text) in files {
                let file = file(name).appending(path: path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: file)
            }
            return file(name)
        }
    }
#endif
