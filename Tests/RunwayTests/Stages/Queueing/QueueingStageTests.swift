import HTTPTypes
import Logging
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(10)))
struct QueueingStageTests {
    @Test func callWithoutNetworkIsStored() async throws {
        let layer = QueueLayer()
        layer.status.set(.none)
        let error = try #require(await layer.error(of: EditNote(text: "a")))
        #expect(error.kind == .queued && error.sending == .notSent)
        let change = try #require(layer.queue.waiting.first)
        #expect(error.queuedChange?.parameters["text"].string == "a")
        #expect(change.method == .put && change.target == "/notes/1")
        #expect(String(decoding: change.body, as: UTF8.self) == #"{"text":"a"}"#)
        #expect(change.subjects == ["note 1"])
        #expect(!change.mayHaveBeenSent)
        // The service's own fields are those of the day on which it is sent.
        #expect(change.headerFields.map(\.name) == [.contentType])
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func submissionReturnsAStoredCall() async throws {
        let layer = QueueLayer()
        layer.status.set(.none)
        guard case .queued(let change) = try await layer.network.submit(EditNote(text: "a")) else {
            Issue.record("The call was not stored.")
            return
        }
        #expect(change.parameters["text"].string == "a" && layer.queue.storedCount == 1)
    }

    /// A stage of the app's own that sends a request again that has failed.
    private struct SendingTwice: RequestStage {
        let step = FlightStep.customStage("sendingTwice")

        func respond(
            to request: Request, in flight: Flight, next: RequestPipeline.Rest
        ) async throws(NetworkError) -> Response {
            do throws(NetworkError) { return try await next.send(request, in: flight) } catch {}
            return try await next.send(request, in: flight)
        }
    }

    @Test func stageAboveTheQueueStoresNothingTwice() async throws {
        var pipeline = RequestPipeline()
        pipeline.insert(SendingTwice(), before: .offlineQueue)
        let layer = QueueLayer(pipeline: pipeline)
        layer.status.set(.none)
        let error = await layer.error(of: EditNote(text: "a"))
        #expect(layer.queue.storedCount == 1 && layer.queue.waiting.count == 1)
        #expect(error?.kind == .queued && error?.queuedChange?.parameters["text"].string == "a")
    }

    @Test func storedCallHasItsOwnOutcome() async throws {
        let layer = QueueLayer()
        layer.status.set(.none)
        let error = await layer.error(of: EditNote())
        let record = try await layer.records.records(count: 1)[0]
        #expect(record.outcome.kind == .queued)
        #expect(record.outcome.queuedChange == error?.queuedChange?.id)
        #expect(record.decisions(of: QueueingDecision.self).count == 1)
        #expect(record.summary.contains("queued as"))
        #expect(record.description.contains("  offline queue: "))
        #expect(record.outcome.logLevel == .notice)
    }

    @Test(arguments: [
        NetworkError.Kind.noNetwork, .timedOut, .unavailable,
    ])
    func failureOfTheNetworkStoresTheCall(_ kind: NetworkError.Kind) async throws {
        let layer = QueueLayer { _ throws(NetworkError) in
            throw NetworkError(kind, in: .transporting, "gone", sending: .sent)
        }
        #expect(await layer.error(of: EditNote())?.kind == .queued)
        #expect(layer.queue.waiting.map(\.mayHaveBeenSent) == [true])
        #expect(layer.key(0) == layer.queue.waiting[0].keyField)
    }

    @Test(arguments: [408, 425, 429, 502, 503, 504])
    func serverThatIsDownStoresTheCall(_ status: Int) async throws {
        let layer = QueueLayer { _ in .json("{}", status: .init(code: status)) }
        #expect(await layer.error(of: EditNote())?.kind == .queued)
        #expect(layer.queue.waiting.map(\.mayHaveBeenSent) == [true])
    }

    /// The server may have executed the call before it failed.
    @Test(arguments: [500, 507, 511])
    func failureOfTheServerStoresTheCall(_ status: Int) async throws {
        let layer = QueueLayer { _ in .json("{}", status: .init(code: status)) }
        #expect(await layer.error(of: EditNote())?.kind == .queued)
        #expect(layer.queue.waiting.map(\.mayHaveBeenSent) == [true])
        #expect(layer.key(0) == layer.queue.waiting.first?.keyField)
    }

    @Test(arguments: [SendState.sent, .unknown, .notSent])
    func unreadableResponseStoresTheCall(_ sending: SendState) async throws {
        let layer = QueueLayer { _ throws(NetworkError) in
            throw NetworkError(.invalidResponse, in: .transporting, "garbage", sending: sending)
        }
        #expect(await layer.error(of: EditNote())?.kind == (sending == .notSent ? .invalidResponse : .queued))
    }

    /// The server has executed the call (RFC 9110 §15.4.4), and what it was redirected to fails.
    @Test(arguments: [401, 403, 404, 409])
    func refusedRedirectTargetStoresTheCall(_ status: Int) async throws {
        let layer = QueueLayer { request in
            if request.head.method == .get { return .json("{}", status: .init(code: status)) }
            return .redirect(.seeOther, to: "https://notes.example.com/v1/result")
        }
        #expect(await layer.error(of: EditNote())?.kind == .queued)
        #expect(layer.queue.waiting.map(\.mayHaveBeenSent) == [true])
        #expect(layer.key(0) == layer.queue.waiting.first?.keyField)
    }

    @Test func refusalBehindTheSameMethodStands() async throws {
        let layer = QueueLayer { request in
            if request.head.path == "/v1/moved" { return .json("{}", status: .notFound) }
            return .redirect(.temporaryRedirect, to: "https://notes.example.com/v1/moved")
        }
        #expect(await layer.error(of: EditNote())?.status == .notFound)
        #expect(layer.queue.storedCount == 0 && layer.queue.written.isEmpty)
    }

    @Test(arguments: [400, 401, 403, 404, 409, 412, 413, 422, 501, 505])
    func refusalIsTheCallsOwn(_ status: Int) async throws {
        let layer = QueueLayer { _ in .json("{}", status: .init(code: status)) }
        #expect(await layer.error(of: EditNote())?.status?.code == status)
        #expect(layer.queue.storedCount == 0)
    }

    @Test(arguments: [NetworkError.Kind.notTrusted, .cancelled, .overloaded])
    func otherFailuresAreTheCallsOwn(_ kind: NetworkError.Kind) async throws {
        let layer = QueueLayer { _ throws(NetworkError) in throw NetworkError(kind, in: .transporting, "no") }
        #expect(await layer.error(of: EditNote())?.kind == kind)
        #expect(layer.queue.storedCount == 0)
    }

    /// The first attempt may have had its effect, and what responds to the second one shows nothing of it.
    @Test(arguments: [400, 403, 404, 413, 500])
    func refusalAfterALostAttemptStoresTheCall(_ status: Int) async throws {
        let layer = Self.layer(losing: .sent) { .json("{}", status: .init(code: status)) }
        #expect(await layer.error(of: RetriedEdit())?.kind == .queued)
        #expect(layer.queue.waiting.map(\.mayHaveBeenSent) == [true])
        #expect(layer.key(0) == layer.key(1) && layer.key(0) == layer.queue.waiting.first?.keyField)
    }

    @Test(arguments: [NetworkError.Kind.notTrusted, .invalidResponse, .needsLogin])
    func failureAfterALostAttemptStoresTheCall(_ kind: NetworkError.Kind) async throws {
        let layer = Self.layer(losing: .sent) { () throws(NetworkError) in
            throw NetworkError(kind, in: .transporting, "no", sending: .notSent)
        }
        #expect(await layer.error(of: RetriedEdit())?.kind == .queued)
        #expect(layer.queue.waiting.map(\.mayHaveBeenSent) == [true])
    }

    @Test func refusalAfterAnUnsentAttemptStands() async throws {
        let layer = Self.layer(losing: .notSent) { .json("{}", status: .forbidden) }
        #expect(await layer.error(of: RetriedEdit())?.status == .forbidden)
        #expect(layer.queue.storedCount == 0 && layer.queue.written.isEmpty)
    }

    @Test func replayedRefusalIsTheCallsOwn() async throws {
        let layer = Self.layer(losing: .sent) {
            var response = Response.json("{}", status: .gone)
            if let name = HTTPField.Name("Idempotency-Replayed") { response.head.headerFields[name] = "true" }
            return response
        }
        #expect(await layer.error(of: RetriedEdit())?.status == .gone)
        #expect(layer.queue.storedCount == 0 && layer.queue.written.isEmpty)
    }

    @Test func replayedSuccessThatIsUnreadableStoresTheCall() async throws {
        let layer = Self.layer(losing: .sent) {
            var response = Response.json("{}", status: .seeOther)
            if let name = HTTPField.Name("Idempotency-Replayed") { response.head.headerFields[name] = "true" }
            return response
        }
        #expect(await layer.error(of: RetriedEdit())?.kind == .queued)
        #expect(layer.queue.waiting.map(\.mayHaveBeenSent) == [true])
    }

    /// A change that is sent again within its call.
    private struct RetriedEdit: Endpoint {
        static let service = Notes.self
        static let name = EditNote.name
        static let method = HTTPRequest.Method.post
        static let offline = OfflinePolicy.queued
        static let retry = RetryPolicy(baseWait: .zero)
        var path: EndpointPath { "notes" }
    }

    private static func layer(
        losing sending: SendState, then respond: @escaping @Sendable () throws(NetworkError) -> Response
    ) -> QueueLayer {
        let isFirst = Mutex(true)
        let queue = MemoryChangeQueue(accepting: RetriedEdit.self)
        return QueueLayer(queue, retrying: .retrying) { _ throws(NetworkError) in
            let isLost = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            if isLost { throw NetworkError(.noNetwork, in: .transporting, "lost", sending: sending) }
            return try respond()
        }
    }

    @Test func callIsWrittenBeforeItIsSent() async throws {
        let gate = ScriptedGate()
        let layer = QueueLayer { _ in
            try? await gate.pass()
            return .json("{}")
        }
        async let error = layer.error(of: EditNote(text: "a"))
        try await gate.waitForArrivals()
        #expect(layer.queue.written.map(\.mayHaveBeenSent) == [true] && layer.queue.storedCount == 0)
        #expect(layer.queue.written.map(\.keyField) == [layer.key(0)])
        gate.open()
        #expect(await error == nil)
        #expect(layer.queue.written.isEmpty)
    }

    @Test func callThatCannotBeWrittenAheadIsSent() async throws {
        let layer = QueueLayer()
        layer.queue.setFull()
        #expect(await layer.error(of: EditNote()) == nil)
        let record = try await layer.records.records(count: 1)[0]
        #expect(record.decisions.contains { $0.name == "unwritten" })
    }

    @Test func endpointWithoutPolicyIsNotStored() async throws {
        let layer = QueueLayer()
        layer.status.set(.none)
        #expect(await layer.error(of: OnlineEdit())?.kind == .noNetwork)
        #expect(layer.queue.storedCount == 0)
    }

    @Test func endpointThatTheQueueDoesNotKnowFails() async throws {
        struct Unknown: Endpoint {
            static let service = Notes.self
            static let method = HTTPRequest.Method.post
            static let offline = OfflinePolicy.queued
            var path: EndpointPath { "x" }
        }
        let layer = QueueLayer()
        #expect(await layer.error(of: Unknown())?.kind == .invalidConfiguration)
    }

    @Test func laterCallDoesNotOvertakeTheStored() async throws {
        let layer = QueueLayer()
        layer.status.set(.none)
        _ = await layer.error(of: EditNote(text: "a"))
        layer.status.set(.wifi)
        #expect(await layer.error(of: EditNote(id: 2, text: "b"))?.kind == .queued)
        #expect(layer.transport.requests.isEmpty)
        layer.network.configure(Notes.self) { $0.account = "bob" }
        #expect(await layer.error(of: EditNote(text: "c")) == nil)
    }

    @Test func secretsAreNotStored() async throws {
        let layer = QueueLayer()
        layer.status.set(.none)
        #expect(await layer.error(of: EditNote(fields: ["X-Api-Key": "hunter2"]))?.kind == .noNetwork)
        #expect(layer.queue.storedCount == 0 && layer.queue.written.isEmpty)
        let record = try await layer.records.records(count: 1)[0]
        #expect(record.decisions.contains { $0.name == "unstorable" })
    }

    @Test func fullQueueSaysSo() async throws {
        let layer = QueueLayer()
        layer.queue.setFull()
        layer.status.set(.none)
        let error = try #require(await layer.error(of: EditNote()))
        #expect(error.kind == .storage && error.sending == .notSent)
        #expect(error.underlying is MemoryChangeQueue.Full)
        #expect(try await layer.records.records(count: 1)[0].outcome.kind == .failed)
    }

    @Test func deadlineStoresACallThatHangs() async throws {
        let gate = ScriptedGate()
        let layer = QueueLayer { _ in
            try? await gate.pass()
            return .json("{}")
        }
        async let error = layer.error(of: EditNote())
        try await gate.waitForArrivals()
        layer.clock.advance(by: .seconds(60))
        #expect(await error?.kind == .queued)
        #expect(layer.queue.waiting.map(\.mayHaveBeenSent) == [true])
        gate.open()
    }

    @Test func cancelledCallIsNotSentLater() async throws {
        let gate = ScriptedGate()
        let layer = QueueLayer(MemoryChangeQueue(gate: gate))
        layer.status.set(.none)
        let call = Task { await layer.error(of: EditNote()) }
        try await gate.waitForArrivals()
        call.cancel()
        gate.open()
        #expect(await call.value?.kind == .cancelled)
        // A cancelled call does not wait for its change, which is stored and then removed.
        try await waitUntil { layer.queue.settledCount == 1 }
        #expect(layer.queue.storedCount == 0)
        #expect(try await layer.records.records(count: 1)[0].outcome.kind == .cancelled)
    }

    @Test func changesOfOneSubjectFollowOneAnother() async throws {
        let gate = ScriptedGate()
        let layer = QueueLayer { request throws(NetworkError) in
            guard request.body.text?.contains("first") == true else { return .json("{}") }
            try? await gate.pass()
            throw NetworkError(.noNetwork, in: .transporting, "lost", sending: .sent)
        }
        async let first = layer.error(of: EditNote(text: "first"))
        try await gate.waitForArrivals()
        async let second = layer.error(of: EditNote(text: "second"))
        // Another subject does not wait.
        #expect(await layer.error(of: EditNote(id: 2, text: "other")) == nil)
        gate.open()
        #expect(await first?.kind == .queued)
        #expect(await second?.kind == .queued)
        #expect(
            layer.queue.waiting.map { String(decoding: $0.body, as: UTF8.self) } == [
                #"{"text":"first"}"#, #"{"text":"second"}"#,
            ])
        #expect(layer.transport.requests.count == 2)
    }

    @Test func replaySendsTheSameRequest() async throws {
        let layer = QueueLayer { _ throws(NetworkError) in
            throw NetworkError(.noNetwork, in: .transporting, "lost", sending: .sent)
        }
        _ = await layer.error(of: EditNote(fields: ["If-Match": #""v1""#], text: "a"))
        _ = try await layer.queue.replayFirst()
        let (first, second) = (layer.transport.requests[0], layer.transport.requests[1])
        #expect(first.head.path == "/v1/notes/1" && second.head.path == first.head.path)
        #expect(Set(first.head.headerFields) == Set(second.head.headerFields))
        #expect(first.body.text == second.body.text)
        #expect(layer.key(0) != nil)
        let records = try await layer.records.records(count: 2)
        #expect(records[1].decisions.contains { $0.name == "replaying" })
    }

    @Test func anotherAccountDoesNotSendTheChange() async throws {
        let layer = QueueLayer()
        layer.network.configure(Notes.self) { $0.account = "ada" }
        layer.status.set(.none)
        _ = await layer.error(of: EditNote())
        layer.network.configure(Notes.self) { $0.account = "bob" }
        layer.status.set(.wifi)
        let result = try await layer.queue.replayFirst()
        #expect(throws: NetworkError.self) { try result.get() }
        #expect(layer.transport.requests.isEmpty)
        #expect(layer.queue.serviceChanges == 2)
    }

    @Test @MainActor func delegateIsNotifiedOfBoth() async throws {
        let layer = QueueLayer()
        let delegate = QueueDelegate()
        let manager = APIManager<EditNote>(on: layer.network, delegate: delegate)
        layer.status.set(.none)
        let flight = manager.load(EditNote(text: "a"))
        do throws(NetworkError) {
            _ = try await manager.landing(of: flight)
            Issue.record("The call was sent.")
        } catch {
            #expect(error.kind == .queued)
        }
        #expect(try await delegate.events(count: 1) == ["queued a"])
        #expect(!manager.isLoading && manager.error == nil)
        layer.status.set(.wifi)
        _ = try await layer.queue.replayFirst()
        #expect(try await delegate.events(count: 2) == ["queued a", "replayed"])
        #expect(layer.network.changeReports.count == 0)
    }

    @Test @MainActor func releasedManagerIsForgotten() async throws {
        let gate = ScriptedGate()
        let layer = QueueLayer(MemoryChangeQueue(gate: gate))
        layer.status.set(.none)
        var manager: APIManager<EditNote>? = APIManager<EditNote>(on: layer.network)
        manager?.load(EditNote())
        try await gate.waitForArrivals()
        manager = nil
        gate.open()
        let record = try await layer.records.records(count: 1)[0]
        #expect(record.outcome.kind == .cancelled)
        try await waitUntil("the change to be removed") { layer.queue.storedCount == 0 }
        #expect(layer.network.changeReports.count == 0)
    }
}
