import AppleFoundation
import HTTPTypes
import RunwayTesting
import Security
import Synchronization
import Testing

@testable import Runway
@testable import TransportSuites

/// Transfers that the system performs, over a daemon whose tasks outlive the objects of a launch.
@Suite(.serialized, .timeLimit(.minutes(5)))
final class BackgroundTests {
    private let identifier = UUID().uuidString
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("runway-\(UUID().uuidString)")
    private let network: NetworkLayer
    private let received = Seen<BackgroundTransfer>()

    init() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        network = NetworkLayer(transport: StubTransport { _ in .json("{}") })
        network.configure(FakeService.self) { $0.baseURLs = [.release: "https://files.test"] }
    }

    deinit {
        FakeDaemon.endProcess(identifier)
        try? FileManager.default.removeItem(at: folder)
    }

    private var file: URL { folder.appendingPathComponent("film") }

    private func launch(
        pins: [PublicKeyPins] = [], onProgress: BackgroundTransfers.ProgressReport? = nil
    ) throws -> BackgroundTransfers {
        let received = received
        return try BackgroundTransfers(
            identifier, folder: folder.appendingPathComponent("transfers"), over: network, pins: pins,
            onProgress: onProgress
        ) { received.note($0) }
    }

    private func waitForEnds(_ count: Int) async throws {
        let received = received
        try await waitUntil("\(count) ends were received") { received.all.count == count }
    }

    private func contents() -> [UInt8]? { (try? Data(contentsOf: file)).map { Array($0) } }

    /// How many copies of the bodies of uploads there are.
    private func bodyFileCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: folder.appendingPathComponent("transfers").path)
            .count { $0.hasSuffix(".body") }
    }

    @Test func downloadEndsInItsFile() async throws {
        let transfers = try launch()
        try await transfers.download(Get(headers: ["X-Version": "1"]), to: file, id: "film")
        let request = try #require(FakeDaemon.running(identifier).first?.request)
        #expect(request.url?.absoluteString == "https://files.test/a")
        #expect(request.value(forHTTPHeaderField: "X-Version") == "1")
        FakeDaemon.end(identifier, "film", .response(200, [1, 2, 3]))
        try await waitForEnds(1)
        let transfer = received.all[0]
        #expect(transfer.id == "film" && transfer.status == 200 && transfer.error == nil && transfer.file == file)
        #expect(contents() == [1, 2, 3])
        try await waitUntil("the transfer is forgotten") { transfers.ids.isEmpty }
        // The id is free.
        try await transfers.download(Get(), to: file, id: "film")
        #expect(transfers.ids == ["film"])
    }

    @Test func sessionStoresAndAddsNothing() throws {
        let transfers = try launch()
        let session = try #require(FakeDaemon.configuration(identifier))
        #expect(session.httpCookieStorage == nil && session.urlCache == nil && session.urlCredentialStorage == nil)
        #expect(!session.httpShouldSetCookies && session.httpCookieAcceptPolicy == .never)
        withExtendedLifetime(transfers) {}
    }

    @Test func uploadSendsACopyOfItsBody() async throws {
        let transfers = try launch()
        try await transfers.upload(Post(content: .bytes([4, 5, 6])), id: "upload")
        let running = try #require(FakeDaemon.running(identifier).first)
        let body = try Data(contentsOf: #require(running.file))
        #expect(Array(body) == [4, 5, 6] && running.request.httpBody == nil)
        FakeDaemon.end(identifier, "upload", .response(201, [7]))
        try await waitForEnds(1)
        #expect(received.all[0].status == 201 && received.all[0].body == [7] && received.all[0].error == nil)
        try await waitUntil("the copy is removed") {
            !FileManager.default.fileExists(atPath: running.file?.path ?? "")
        }
    }

    @Test func refusedDownloadLeavesTheFile() async throws {
        let transfers = try launch()
        try Data([9]).write(to: file)
        try await transfers.download(Get(), to: file, id: "film")
        FakeDaemon.end(identifier, "film", .response(403, [1, 2]))
        try await waitForEnds(1)
        #expect(received.all[0].status == 403 && received.all[0].error?.kind == .refused && received.all[0].file == nil)
        #expect(contents() == [9])
    }

    @Test(arguments: [false, true])
    func endWhileTheAppWasNotRunningComesOnceAfterTheLaunch(isUpload: Bool) async throws {
        var transfers: BackgroundTransfers? = try launch()
        try await transfers?.handOver("film", isUpload: isUpload, to: file)
        #expect(try bodyFileCount() == (isUpload ? 1 : 0))
        FakeDaemon.endProcess(identifier)
        transfers = nil
        FakeDaemon.end(identifier, "film", .response(200, [1]))
        #expect(received.all.isEmpty && contents() == nil)

        let next = try launch()
        let (received, finished) = (received, Seen<Int>())
        await MainActor.run {
            // The app has received everything by then.
            next.handleEvents { finished.note(received.all.count) }
        }
        try await waitForEnds(1)
        try await waitUntil("the system was notified") { finished.all == [1] }
        #expect(received.all[0].status == 200 && received.all[0].error == nil)
        #expect(received.all[0].file == (isUpload ? nil : file))
        #expect(contents() == (isUpload ? nil : [1]))
        #expect(received.all[0].body == (isUpload ? [1] : []))
        try await waitUntil("the transfer is forgotten") { next.ids.isEmpty }
        #expect(try bodyFileCount() == 0)

        FakeDaemon.endProcess(identifier)
        let last = try launch()
        #expect(last.ids.isEmpty && received.all.count == 1)
    }

    @Test func releasedObjectReportsUntilItsTransfersHaveEnded() async throws {
        var transfers: BackgroundTransfers? = try launch()
        try await transfers?.download(Get(), to: file, id: "film")
        transfers = nil
        #expect(FakeDaemon.configuration(identifier) != nil, "the session is still there")
        FakeDaemon.end(identifier, "film", .response(200, [1]))
        try await waitForEnds(1)
        #expect(received.all[0].file == file && contents() == [1])
        try await waitUntil("the session is released") { FakeDaemon.configuration(self.identifier) == nil }
        let next = try launch()
        try await waitUntil("the transfer is forgotten") { next.ids.isEmpty }
    }

    @Test(arguments: [false, true]) func runningTransferIsMetAgain(isUpload: Bool) async throws {
        var transfers: BackgroundTransfers? = try launch()
        try await transfers?.handOver("film", isUpload: isUpload, to: file)
        FakeDaemon.endProcess(identifier)
        transfers = nil
        let next = try launch()
        #expect(next.ids == ["film"])
        await #expect(throws: NetworkError.self) { try await next.handOver("film", isUpload: isUpload, to: file) }
        #expect(try bodyFileCount() == (isUpload ? 1 : 0), "the body of the running upload is there")
        next.cancel("film")
        try await waitForEnds(1)
        #expect(received.all[0].error?.kind == .cancelled)
        try await waitUntil("the transfer is forgotten") { next.ids.isEmpty }
        #expect(try bodyFileCount() == 0)
    }

    @Test func folderIsExcludedFromBackups() throws {
        let path = folder.appendingPathComponent("transfers").path
        #expect(!FakeBackup.isExcluded(path))
        let transfers = try launch()
        #expect(FakeBackup.isExcluded(path))
        withExtendedLifetime(transfers) {}
    }

    @Test func folderThatCannotBeProtectedIsAnErrorOfStorage() {
        FakeBackup.refuse(folder.appendingPathComponent("transfers").path)
        let error = #expect(throws: NetworkError.self) { try launch() }
        #expect(error?.kind == .storage && error?.detail.contains("can't be protected") == true)
        #expect(FakeDaemon.configuration(identifier) == nil, "no session was made")
    }

    @Test func cancellationDuringTheHandOverStartsNoTransfer() async throws {
        let transfers = try launch()
        let gate = ScriptedGate()
        let body = BodyStream {
            var isFirst = true
            return {
                defer { isFirst = false }
                if isFirst { try await gate.pass() }
                return isFirst ? [1] : nil
            }
        }
        let post = Post(content: .stream(body, byteCount: nil, isReplayable: false))
        let handOver = Task { try await transfers.upload(post, id: "upload") }
        try await gate.waitForArrivals()
        #expect(transfers.ids == ["upload"])
        transfers.cancel("upload")
        gate.open()
        let error = try await #require(throws: NetworkError.self) { try await handOver.value }
        #expect(error.kind == .cancelled && error.sending == .notSent)
        #expect(FakeDaemon.running(identifier).isEmpty && transfers.ids.isEmpty && received.all.isEmpty)
        #expect(try bodyFileCount() == 0)
        // The id is free.
        try await transfers.upload(Post(content: .bytes([1])), id: "upload")
        #expect(FakeDaemon.running(identifier).count == 1)
    }

    @Test func taskThatWasNotResumedIsResumedAtTheLaunch() async throws {
        var transfers: BackgroundTransfers? = try launch()
        try await transfers?.download(Get(), to: file, id: "film")
        FakeDaemon.endProcess(identifier)
        transfers = nil
        FakeDaemon.interrupt(identifier, "film")
        let next = try launch()
        let identifier = identifier
        try await waitUntil("the task is resumed") { FakeDaemon.running(identifier).map(\.isSuspended) == [false] }
        FakeDaemon.end(identifier, "film", .response(200, [1]))
        try await waitForEnds(1)
        #expect(received.all[0].file == file && contents() == [1])
        withExtendedLifetime(next) {}
    }

    @Test func taskWithoutANameIsCancelledAtTheLaunch() async throws {
        var transfers: BackgroundTransfers? = try launch()
        for id in ["film", "other"] { try await transfers?.download(Get(), to: file, id: id) }
        FakeDaemon.endProcess(identifier)
        transfers = nil
        FakeDaemon.interrupt(identifier, "film", isNamed: false)
        let next = try launch()
        let identifier = identifier
        try await waitUntil("it is cancelled") { FakeDaemon.running(identifier).map(\.description) == ["other"] }
        // Its transfer has no task, as if the process had ended before it was made.
        #expect(next.ids == ["film", "other"] && received.all.isEmpty)
    }

    @Test func lostTransferIsReportedAtTheSecondLaunch() async throws {
        var transfers: BackgroundTransfers? = try launch()
        try await transfers?.download(Get(), to: file, id: "film")
        FakeDaemon.endProcess(identifier)
        FakeDaemon.lose(identifier, "film")
        for _ in 0..<2 {
            transfers = nil
            #expect(received.all.isEmpty)
            transfers = try launch()
            let compared = try #require(transfers)
            try await waitUntil("the tasks are compared") {
                let path = self.folder.appendingPathComponent("transfers/ledger.json").path
                let ledger = FileManager.default.contents(atPath: path).flatMap { BackgroundLedger(json: Array($0)) }
                return ledger?.entries["film"]?.state != .started || compared.ids.isEmpty
            }
            FakeDaemon.endProcess(identifier)
        }
        try await waitForEnds(1)
        #expect(received.all[0].error?.detail.contains("lost") == true)
    }

    @Test func tokenIsThatOfTheHandOver() async throws {
        network.configure(FakeService.self) { $0.commonHeaders = ["Authorization": "Bearer 1"] }
        let transfers = try launch()
        try await transfers.download(Get(), to: file, id: "film")
        let request = FakeDaemon.running(identifier).first?.request
        #expect(request?.value(forHTTPHeaderField: "Authorization") == "Bearer 1")
    }

    @Test func failedNetworkIsReported() async throws {
        let transfers = try launch()
        try await transfers.download(Get(), to: file, id: "film")
        FakeDaemon.end(identifier, "film", .error(URLError(.timedOut)))
        try await waitForEnds(1)
        #expect(received.all[0].error?.kind == .noNetwork && received.all[0].status == nil)
    }

    @Test func transferUsesTheNetworksThatItMay() async throws {
        let transfers = try launch()
        try await transfers.download(Get(), to: file, id: "any")
        try await transfers.download(Get(), to: file, id: "unmetered", on: .unmetered)
        try await transfers.upload(
            Post(content: .bytes([1])), id: "upload", on: .init(allowsExpensive: false))
        func allowed(_ id: String) throws -> [Bool] {
            let request = try #require(FakeDaemon.running(identifier).first { $0.description == id }?.request)
            return [request.allowsExpensiveNetworkAccess, request.allowsConstrainedNetworkAccess]
        }
        #expect(try allowed("any") == [true, true])
        #expect(try allowed("unmetered") == [false, false])
        #expect(try allowed("upload") == [false, true])
    }

    @Test func progressIsReportedOnTheMainActorBeforeTheEnd() async throws {
        let reports = Seen<String>()
        let transfers = try launch { id, progress in
            MainActor.assertIsolated()
            reports.note("\(id) \(progress.completedByteCount) \(progress.totalByteCount ?? -1)")
        }
        try await transfers.download(Get(), to: file, id: "film")
        try await transfers.upload(Post(content: .bytes([4, 5, 6])), id: "upload")
        FakeDaemon.progress(identifier, "film", 1, of: -1)
        FakeDaemon.progress(identifier, "upload", 2, of: 3)
        try await waitUntil("both were reported") { Set(reports.all) == ["film 1 -1", "upload 2 3"] }
        FakeDaemon.progress(identifier, "film", 3 << 30, of: 4 << 30)
        FakeDaemon.progress(identifier, "film", 4 << 30, of: 4 << 30)
        FakeDaemon.end(identifier, "film", .response(200, [1]))
        try await waitForEnds(1)
        // The newest is reported, however fast reports come.
        #expect(reports.all.last == "film \(4 << 30) \(4 << 30)")
        withExtendedLifetime(transfers) {}
    }

    /// The ledger was removed. Without a delivered end, what carries the progress would never be removed.
    @Test func progressOfAnUnknownTransferIsNotReported() async throws {
        var transfers: BackgroundTransfers? = try launch()
        try await transfers?.download(Get(), to: file, id: "unknown")
        FakeDaemon.endProcess(identifier)
        transfers = nil
        try FileManager.default.removeItem(at: folder.appendingPathComponent("transfers/ledger.json"))
        let reports = Seen<String>()
        let next = try launch { id, _ in reports.note(id) }
        try await next.download(Get(), to: file, id: "film")
        // They would come to the main actor in this order.
        for id in ["unknown", "film"] { FakeDaemon.progress(identifier, id, 1, of: 2) }
        try await waitUntil("the report") { !reports.all.isEmpty }
        #expect(reports.all == ["film"])
        withExtendedLifetime(next) {}
    }

    @Test func serverWithoutAPinnedKeyGetsNoTransfer() async throws {
        let root = try TestAuthority()
        let chain = try root.server().chainDER + [root.der]
        func challenge(_ host: String, isVerified: Bool = true) -> URLProtectionSpace {
            URLProtectionSpace(
                fakeHost: host, method: NSURLAuthenticationMethodServerTrust,
                trust: SecTrust(fakeOf: chain, verified: isVerified ? chain : nil))
        }
        let others = try ["a", "b"].map { try PublicKeyPin(certificatePEM: TestAuthority($0).pem).description }
        let transfers = try launch(pins: [
            PublicKeyPins(host: "files.test", pins: others),
            PublicKeyPins(
                host: "right.test", pins: [PublicKeyPin(certificatePEM: root.pem).description, others[0]]),
        ])
        try await transfers.download(Get(), to: file, id: "film")
        #expect(await FakeDaemon.challenge(identifier, "film", challenge("right.test")) == .useCredential)
        #expect(await FakeDaemon.challenge(identifier, "film", challenge("unpinned.test")) == .performDefaultHandling)
        #expect(
            await FakeDaemon.challenge(identifier, "film", challenge("right.test", isVerified: false))
                == .cancelAuthenticationChallenge)
        #expect(
            await FakeDaemon.challenge(identifier, "film", challenge("files.test")) == .cancelAuthenticationChallenge)
        // What the session reports of a challenge that was cancelled.
        FakeDaemon.end(identifier, "film", .error(URLError(.cancelled)))
        try await waitForEnds(1)
        #expect(received.all[0].error?.kind == .notTrusted)
        #expect(received.all[0].error?.detail.contains(HostPins.refusal) == true)
    }

    @Test func credentialsOfAServerAreNotTheSystems() async throws {
        let transfers = try launch()
        try await transfers.download(Get(), to: file, id: "film")
        let server = URLProtectionSpace(fakeHost: "files.test", method: NSURLAuthenticationMethodHTTPBasic)
        #expect(await FakeDaemon.challenge(identifier, "film", server) == .rejectProtectionSpace)
        let proxy = URLProtectionSpace(
            fakeHost: "proxy.test", method: NSURLAuthenticationMethodHTTPBasic, proxyType: "https")
        #expect(await FakeDaemon.challenge(identifier, "film", proxy) == .performDefaultHandling)
        withExtendedLifetime(transfers) {}
    }
}

extension BackgroundTransfers {
    /// Hands over an upload, or a download to a file.
    fileprivate func handOver(_ id: String, isUpload: Bool, to file: URL) async throws {
        if isUpload {
            try await upload(Post(content: .bytes([4, 5, 6])), id: id)
        } else {
            try await download(Get(), to: file, id: id)
        }
    }
}
