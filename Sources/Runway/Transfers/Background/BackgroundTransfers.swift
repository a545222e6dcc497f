#if canImport(Darwin)
    public import Foundation
    import HTTPTypes

    /// Downloads and uploads that the system performs, even while the app is suspended or not running.
    ///
    /// Create one object for each identifier at every launch, as early as possible. The object then receives what the
    /// system did while the app was not running. Retain the object until the process ends. If it is released, its
    /// session continues until the transfers have ended; a second session with the same identifier at that time is a
    /// programming error.
    ///
    /// ```
    /// let transfers = try BackgroundTransfers("com.example.films", folder: folder, over: network) { transfer in
    ///     await library.note(transfer.id, transfer.error)
    /// }
    /// try await transfers.download(RentalFilm(id: 7), to: file, id: "film-7", on: .unmetered)
    /// // In the app's delegate, application(_:handleEventsForBackgroundURLSession:completionHandler:):
    /// transfers.handleEvents(completionHandler)
    /// ```
    ///
    /// Before a request is handed over, it passes all stages, and the interceptors' hooks before and after its start
    /// are called. It is sent with the access token and the cookies of that moment. From then on the system decides: it
    /// retries while there is no network, follows redirects with the request's header fields, and waits for up to seven
    /// days.
    ///
    /// The layer does not process the responses: it calls no hooks for success or failure, renews no tokens, and
    /// applies no retries, deadline, cookies, cache or verdict of the service. A status from 200 to 299 is a success,
    /// and any other is a failure.
    ///
    /// The system follows redirects to any host, and sends the header fields of the request there. Hand over calls with
    /// credentials only to servers that redirect only to their own hosts.
    public final class BackgroundTransfers: Sendable {
        /// Receives the end of each transfer. When the function returns, the transfer is removed and its id can be used
        /// again. An end is delivered once in a process. If the process ends during the delivery, the end is delivered
        /// again at the next launch.
        public typealias Receive = @Sendable (BackgroundTransfer) async -> Void

        /// Receives the progress of the transfer with this id while the app runs. It is called at most thirty times a
        /// second for each transfer, and for the last time before the end is received. If reports arrive faster, only
        /// the latest counts.
        public typealias ProgressReport = @MainActor @Sendable (_ id: String, _ progress: TransferProgress) -> Void

        /// The networks that a transfer may use. The system waits until the device has such a network.
        public struct Networks: Sendable, Hashable {
            /// Whether the transfer may use expensive networks, such as mobile networks and hotspots. The default is
            /// `true`.
            public var allowsExpensive: Bool
            /// Whether the transfer may use networks in Low Data Mode. The default is `true`.
            public var allowsConstrained: Bool

            /// Creates a set of allowed networks. By default all networks are allowed.
            public init(allowsExpensive: Bool = true, allowsConstrained: Bool = true) {
                (self.allowsExpensive, self.allowsConstrained) = (allowsExpensive, allowsConstrained)
            }

            /// All networks are allowed.
            public static let any = Networks()
            /// Only networks that are neither expensive nor in Low Data Mode are allowed.
            public static let unmetered = Networks(allowsExpensive: false, allowsConstrained: false)
        }

        private let network: NetworkLayer
        private let folder: String
        private let ledger: BackgroundLedgerFile
        private let relay: BackgroundRelay
        private let handOvers = BackgroundHandOvers()
        private let session: URLSession

        /// Reconnects to the transfers of earlier launches, and reports those that have ended.
        ///
        /// - Parameters:
        ///   - identifier: The name of the session, which must be the same in all launches of the app. Only one object
        ///     with this identifier may exist at a time.
        ///   - folder: A folder for the ledger and the bodies of uploads, for example in Application Support. It must
        ///     have no other use. If it does not exist, it is created so that only the user can access it. It is
        ///     excluded from backups, and readable after the device was unlocked for the first time since its boot.
        ///   - network: The layer that creates the requests.
        ///   - pins: The public keys of hosts. The pins of
        ///     ``URLSessionTransport/init(configuration:pins:onPinReport:)`` do not apply here. The default is empty:
        ///     only the system decides which servers are trusted.
        ///   - isDiscretionary: Whether the system waits for Wi-Fi and power. The default is `false`.
        ///   - onProgress: Receives progress while the app runs. The default, `nil`, reports no progress.
        ///   - receive: Receives the ends of transfers.
        /// - Throws: ``NetworkError/Kind/storage`` if the folder or the ledger in it can't be used.
        public init(
            _ identifier: String, folder: URL, over network: NetworkLayer, pins: [PublicKeyPins] = [],
            isDiscretionary: Bool = false, onProgress: ProgressReport? = nil, receive: @escaping Receive
        ) throws(NetworkError) {
            self.network = network
            self.folder = folder.path
            try Self.prepare(folder)
            ledger = try BackgroundLedgerFile(folder.path + "/ledger.json")
            let known = ledger.current.startedIDs
            relay = BackgroundRelay(
                ledger, bodies: folder.path, network.clock, PinnedTrust(pins: pins, onReport: nil), onProgress, receive)
            let configuration = URLSessionConfiguration.background(withIdentifier: identifier)
            configuration.applyCommonSettings()
            configuration.isDiscretionary = isDiscretionary
            configuration.sessionSendsLaunchEvents = true
            session = URLSession(configuration: configuration, delegate: relay, delegateQueue: relay.queue)
            session.getAllTasks { [relay, ledger, handOvers] tasks in
                handOvers.betweenStarts { Self.settle(tasks, of: known) }
                let running = Set(tasks.compactMap(\.taskDescription))
                // If the ledger can't be written now, its transfers are compared with the system's tasks again at the
                // next launch.
                try? ledger.change { $0.compare(running: running, among: known) }
                relay.deliver()
            }
        }

        /// Creates the folder, and protects it like other folders that background calls read.
        private static func prepare(_ folder: URL) throws(NetworkError) {
            do throws(FileError) {
                try PrivateFile.makeFolder(folder.path, below: folder.path)
                do { try PrivateFolder.protect(folder) } catch {
                    throw FileError(folder.path, "can't be protected", reason: error.redactedDescription)
                }
            } catch {
                throw NetworkError(error, in: .preparing)
            }
        }

        /// Completes hand-overs that were interrupted by the end of the process. The system then has tasks that were
        /// not started.
        ///
        /// - Parameter known: The ids of the transfers in the ledger.
        private static func settle(_ tasks: [URLSessionTask], of known: Set<String>) {
            for task in tasks {
                if let id = task.taskDescription {
                    if task.state == .suspended, known.contains(id) { task.resume() }
                } else {
                    // It is unknown which transfer the task belongs to.
                    task.cancel()
                }
            }
        }

        /// The transfers continue: the session reports their ends, and is released after the last one.
        deinit { session.finishTasksAndInvalidate() }

        /// The ids of the transfers whose end the app has not received.
        public var ids: Set<String> { Set(ledger.current.entries.keys) }

        /// Hands a download over to the system. Returns when the system has accepted it.
        ///
        /// - Parameters:
        ///   - endpoint: The endpoint to fetch. Its request must have no body.
        ///   - file: The file to write. It must be on the same volume as the app's files, and its folder must exist. An
        ///     existing file is replaced. The file has mode 0600.
        ///   - id: The app's name for the transfer.
        ///   - networks: The networks that the transfer may use. The default is any network.
        ///   - options: Settings of this call that override those of its endpoint.
        /// - Throws: The error of a call that can't be made; ``NetworkError/Kind/invalidParameters`` if the id is in
        ///   use; ``NetworkError/Kind/cancelled`` after ``cancel(_:)``.
        public func download<E: Endpoint>(
            _ endpoint: E, to file: URL, id: String, on networks: Networks = .any,
            options: CallOptions = .standard
        ) async throws(NetworkError) {
            try handOvers.begin(id)
            defer { handOvers.end(id) }
            let request = try await network.requestToHandOver(endpoint, options: options)
            guard case .none = request.body, file.isFileURL else {
                throw NetworkError(
                    .invalidParameters, in: .preparing,
                    "A background download has a file URL, and no body in its request.")
            }
            try await handOver(id, .download(to: file.absoluteURL.path), request, body: nil, on: networks)
        }

        /// Hands an upload over to the system. Returns when the system has accepted it. The body is first written to a
        /// file, which the system sends.
        ///
        /// - Parameters:
        ///   - endpoint: The endpoint to call; see ``RequestBody/file(_:)``.
        ///   - id: The app's name for the transfer.
        ///   - networks: The networks that the transfer may use. The default is any network.
        ///   - options: Settings of this call that override those of its endpoint.
        /// - Throws: The error of a call that can't be made; ``NetworkError/Kind/invalidParameters`` if the id is in
        ///   use; ``NetworkError/Kind/storage`` if the body can't be read or written; ``NetworkError/Kind/cancelled``
        ///   after ``cancel(_:)``.
        public func upload<E: Endpoint>(
            _ endpoint: E, id: String, on networks: Networks = .any, options: CallOptions = .standard
        ) async throws(NetworkError) {
            try handOvers.begin(id)
            defer { handOvers.end(id) }
            let request = try await network.requestToHandOver(endpoint, options: options)
            try await handOver(id, .upload, request, body: relay.bodyFile(of: id), on: networks)
        }

        /// Cancels a transfer. Its end is then reported as ``NetworkError/Kind/cancelled``. A transfer that is still
        /// being handed over is not started: ``download(_:to:id:on:options:)`` or ``upload(_:id:on:options:)`` throws
        /// the same error. Does nothing if the transfer has ended.
        public func cancel(_ id: String) {
            handOvers.cancel(id)
            session.getAllTasks { tasks in
                for task in tasks where task.taskDescription == id { task.cancel() }
            }
        }

        /// Accepts the completion handler that the system passes to
        /// `application(_:handleEventsForBackgroundURLSession:completionHandler:)`. The handler is called on the main
        /// actor when the app has received every end that the system reports for it. Ends that were reported more than
        /// 30 s before do not count.
        @MainActor public func handleEvents(_ completionHandler: @escaping () -> Void) {
            relay.finish { completionHandler() }
        }

        private func handOver(
            _ id: String, _ kind: BackgroundLedger.Kind, _ request: Request, body: String?, on networks: Networks
        ) async throws(NetworkError) {
            // The ledger must list the transfer before its task exists. Otherwise the end of the task would not be
            // noticed.
            try ledger.change { ledger throws(NetworkError) in try ledger.start(id, kind) }
            do {
                if let body { try await request.body.write(to: body) }
                var urlRequest = try request.urlRequest()
                urlRequest.httpBody = nil
                urlRequest.allowsExpensiveNetworkAccess = networks.allowsExpensive
                urlRequest.allowsConstrainedNetworkAccess = networks.allowsConstrained
                try handOvers.start(id) {
                    let task: URLSessionTask =
                        if let body {
                            session.uploadTask(with: urlRequest, fromFile: URL(fileURLWithPath: body))
                        } else {
                            session.downloadTask(with: urlRequest)
                        }
                    task.taskDescription = id
                    task.resume()
                }
            } catch {
                try? ledger.change { $0.remove(id) }
                if let body { try? FileManager.default.removeItem(atPath: body) }
                throw NetworkError(session: error, from: request.head.authority)
            }
        }
    }

    /// The end of a background transfer: its response or its error.
    public struct BackgroundTransfer: Sendable {
        /// The app's name for the transfer.
        public let id: String
        /// The file that a download wrote; `nil` for an upload or if the transfer failed.
        public let file: URL?
        /// The status of the response; `nil` if there was no response.
        public let status: Int?
        /// The body of an upload's response, limited to the first 64 KiB; empty for a download.
        public let body: [UInt8]
        /// The reason why the transfer failed; `nil` if it succeeded.
        public let error: NetworkError?

        init(_ id: String, _ kind: BackgroundLedger.Kind, _ ending: BackgroundLedger.Ending) {
            self.id = id
            switch ending {
            case .response(let status, let body):
                let isFine = (200...299).contains(status)
                (self.status, self.body) = (status, Array(body))
                error =
                    isFine
                    ? nil
                    : NetworkError(
                        .refused, in: .transporting, "The server responded with status \(status).",
                        status: HTTPResponse.Status(code: status))
                file = isFine ? kind.filePath().map { URL(fileURLWithPath: $0) } : nil
            case .failed(let failure, let detail):
                (file, status, body) = (nil, nil, [])
                error = NetworkError(failure.kind, in: .transporting, detail)
            }
        }
    }

    extension BackgroundLedger.FailureReason {
        fileprivate var kind: NetworkError.Kind {
            switch self {
            case .cancelled: .cancelled
            case .network, .lost: .noNetwork
            case .storage: .storage
            case .untrusted: .notTrusted
            }
        }
    }
#endif
