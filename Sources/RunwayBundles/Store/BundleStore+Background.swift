#if canImport(Darwin)
    public import Runway
    import RunwayTUF

    extension BundleStore {
        /// The maximum number of files that are handed over at once. Later ones follow in the next check.
        private static let maximumTransfers = 200

        /// Checks now, like ``check()``, and hands the files of a new version over to the system, which downloads them
        /// while the app is suspended. The outcome is then ``BundleRecord/Kind/waiting``.
        ///
        /// Call it from a background refresh, whose time is too short for a download. In the function that receives the
        /// ends of the transfers, call ``poke()`` or ``check()``: a check installs the version when all files are here.
        /// The ids of these transfers begin with `runway-bundle-`. The system does not limit their lengths: a server
        /// can send more bytes than the manifest lists, which are discarded only when the transfer has ended.
        ///
        /// - Parameter transfers: The session. The layer that it was made with is the store's.
        @discardableResult
        public func check(handingOverTo transfers: BackgroundTransfers) async -> BundleRecord {
            await check { [folder, files, options] missing, byteCount in
                let networks = BackgroundTransfers.Networks(
                    allowsExpensive: byteCount <= options.maximumExpensiveByteCount,
                    allowsConstrained: byteCount <= options.maximumConstrainedByteCount)
                let running = transfers.ids
                for file in missing.prefix(Self.maximumTransfers) {
                    let id = "runway-bundle-\(file.sha256)"
                    if running.contains(id) { continue }
                    try await transfers.download(
                        files.endpoint(of: file.sha256), to: folder.incoming(file.sha256), id: id, on: networks)
                }
            }
        }
    }
#endif
