#if canImport(Darwin)
    import Foundation
    import Synchronization

    /// The delegate of a background session. It records the ends of transfers in the ledger, and passes them to the
    /// app.
    final class BackgroundRelay: NSObject, Sendable {
        private struct State {
            /// The response bodies of uploads, by transfer id.
            var bodies: [String: Data] = [:]
            /// The errors of downloads whose file could not be moved to its target, by transfer id.
            var unplaced: [String: FileError] = [:]
            /// The reasons why servers are not trusted, by transfer id.
            var refusals: [String: ServerRefused] = [:]
            /// The relays that pass progress to the app, by transfer id.
            var progress: [String: ProgressRelay] = [:]
            /// The transfers whose end the app is receiving.
            var delivered: Set<String> = []
            var reports = BackgroundReports<Handler>()
        }

        typealias Handler = @MainActor @Sendable () -> Void

        /// The serial queue on which the session calls its delegate.
        let queue: OperationQueue
        private let ledger: BackgroundLedgerFile
        private let folder: String
        private let clock: LayerClock
        private let trust: PinnedTrust
        private let onProgress: BackgroundTransfers.ProgressReport?
        private let receive: BackgroundTransfers.Receive
        /// Guards the reports of the tasks, and the ends of transfers that the app is receiving.
        private let state = Mutex(State())

        init(
            _ ledger: BackgroundLedgerFile, bodies folder: String, _ clock: LayerClock, _ trust: PinnedTrust,
            _ onProgress: BackgroundTransfers.ProgressReport?, _ receive: @escaping BackgroundTransfers.Receive
        ) {
            queue = OperationQueue()
            queue.maxConcurrentOperationCount = 1
            self.ledger = ledger
            self.folder = folder
            self.clock = clock
            self.trust = trust
            self.onProgress = onProgress
            self.receive = receive
        }

        /// Returns the path of the file with the body of an upload.
        func bodyFile(of id: String) -> String {
            var hash = SHA256Hash()
            hash.update(Array(id.utf8))
            return "\(folder)/\(Array(hash.digest.prefix(16)).hexadecimal).body"
        }

        /// Calls the system's completion handler as soon as the ends of all transfers have been reported and received.
        func finish(_ handler: @escaping Handler) {
            call(state.withLock { $0.reports.add(handler, at: clock.now) })
        }

        /// Passes to the app the ends of transfers that it has not received yet.
        func deliver() {
            let transfers = state.withLock { state in
                // The ledger is read under the lock, so that a transfer whose end the app has just received is no
                // longer in it.
                let ledger = ledger.current
                return ledger.endings.compactMap { id, ending -> BackgroundTransfer? in
                    guard let kind = ledger.entries[id]?.kind, state.delivered.insert(id).inserted else { return nil }
                    state.reports.deliveryBegan()
                    return BackgroundTransfer(id, kind, ending)
                }
            }
            for transfer in transfers { deliver(transfer) }
        }

        private func deliver(_ transfer: BackgroundTransfer) {
            Task { [self] in
                await state.withLock { $0.progress.removeValue(forKey: transfer.id) }?.end()
                await receive(transfer)
                if case .upload? = ledger.current.entries[transfer.id]?.kind {
                    try? FileManager.default.removeItem(atPath: bodyFile(of: transfer.id))
                }
                // If the ledger can't be written, the end of the transfer is delivered again at the next launch.
                try? ledger.change { $0.remove(transfer.id) }
                let handlers = state.withLock { state in
                    state.delivered.remove(transfer.id)
                    return state.reports.deliveryEnded()
                }
                call(handlers)
            }
        }

        private func call(_ handlers: [Handler]) {
            for handler in handlers { Task { @MainActor in handler() } }
        }

        private func ending(of task: URLSessionTask, _ id: String, _ error: (any Error)?) -> BackgroundLedger.Ending {
            let (body, unplaced, refusal) = state.withLock { state in
                (
                    state.bodies.removeValue(forKey: id), state.unplaced.removeValue(forKey: id),
                    state.refusals.removeValue(forKey: id)
                )
            }
            let host = task.originalRequest?.url?.host
            // The session reports a refused server as a cancellation.
            if let refusal { return .failed(.untrusted, detail: NetworkError(session: refusal, from: host).detail) }
            if let error {
                let known = NetworkError(session: error, from: host)
                let isCancelled = (error as? URLError)?.code == .cancelled
                return .failed(
                    isCancelled ? .cancelled : .network,
                    detail: isCancelled ? "The transfer was cancelled, by the app or by the user." : known.detail)
            }
            if let unplaced { return .failed(.storage, detail: "\(unplaced)") }
            guard let response = task.response as? HTTPURLResponse else {
                return .failed(.network, detail: "The transfer ended without a response.")
            }
            return .response(status: response.statusCode, body: body ?? Data())
        }
    }

    extension BackgroundRelay: URLSessionDataDelegate, URLSessionDownloadDelegate {
        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
            completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
        ) {
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            guard let id = dataTask.taskDescription else { return }
            state.withLock { state in
                let room = BackgroundLedger.maximumBodyByteCount - state.bodies[id, default: Data()].count
                state.bodies[id, default: Data()] += data.prefix(room)
            }
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            // The system removes the file when this method returns.
            guard let id = downloadTask.taskDescription, let response = downloadTask.response as? HTTPURLResponse,
                (200...299).contains(response.statusCode),
                let path = ledger.current.entries[id]?.kind.filePath()
            else { return }
            do throws(FileError) {
                try OpenFile(location.path, O_RDONLY).setMode(0o600)
                guard rename(location.path, path) == 0 else { throw FileError(path, "can't be replaced") }
            } catch {
                state.withLock { $0.unplaced[id] = error }
            }
        }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didWriteData bytesWritten: Int64,
            totalBytesWritten: Int64, totalBytesExpectedToWrite: Int64
        ) {
            report(totalBytesWritten, of: totalBytesExpectedToWrite, for: downloadTask)
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
            totalBytesExpectedToSend: Int64
        ) {
            report(totalBytesSent, of: totalBytesExpectedToSend, for: task)
        }

        /// Reports progress to the app.
        ///
        /// - Parameter total: The length; negative if it is unknown (`NSURLSessionTransferSizeUnknown`).
        private func report(_ byteCount: Int64, of total: Int64, for task: URLSessionTask) {
            guard let onProgress, let id = task.taskDescription else { return }
            let relay = state.withLock { state -> ProgressRelay? in
                if let known = state.progress[id] { return known }
                // A relay is removed when the end of its transfer is delivered. A transfer that has ended must
                // therefore not get a new one.
                guard ledger.current.isInProgress(id) else { return nil }
                let relay = ProgressRelay(clock: clock) { onProgress(id, $0) }
                state.progress[id] = relay
                return relay
            }
            relay?.report(
                TransferProgress(
                    completedByteCount: Int(clamping: byteCount),
                    totalByteCount: total < 0 ? nil : Int(clamping: total)))
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let id = task.taskDescription else { return }
            let ending = ending(of: task, id, error)
            // If the ledger can't be written, the app still receives the end of the transfer in this process.
            _ = try? ledger.change { $0.end(id, ending) }
            deliver()
        }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            let space = challenge.protectionSpace
            if space.isProxy() { return completionHandler(.performDefaultHandling, nil) }
            guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
                return completionHandler(.rejectProtectionSpace, nil)
            }
            trust.evaluate(challenge) { [self] decision in
                switch decision {
                case .system: completionHandler(.performDefaultHandling, nil)
                case .trusted(let credential): completionHandler(.useCredential, credential)
                case .refused(let refusal):
                    if let id = task.taskDescription { state.withLock { $0.refusals[id] = refusal } }
                    completionHandler(.cancelAuthenticationChallenge, nil)
                }
            }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics)
        {}

        func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) {
            call(state.withLock { $0.reports.report(at: clock.now) })
        }
    }
#endif
