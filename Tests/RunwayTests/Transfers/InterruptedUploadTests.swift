import Foundation
import HTTPTypes
import RunwayFormats
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Uploads that are interrupted, under the default limits of admission: open circuits delay them and do not end them.
@Suite(.timeLimit(.minutes(10)))
struct InterruptedUploadTests {
    private struct Photo: Endpoint {
        static let service = Archive.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "image/jpeg")
        static let uploadResumption = UploadResumption(outlivesCall: false)
        @Unencoded var id: Int
        @Unencoded var file: URL
        var path: EndpointPath { "photos/\(id)" }
        var content: RequestBody { get throws { try .file(file) } }
    }

    /// Sends all requests to another host than their endpoint names.
    private struct RelayStage: RequestStage {
        var step: FlightStep { .customStage("relay") }
        func respond(
            to request: Request, in flight: Flight, next: RequestPipeline.Rest
        ) async throws(NetworkError) -> Response {
            var request = request
            request.head.authority = "relay.example"
            return try await next.send(request, in: flight)
        }
    }

    private static let firstFailureOpens = AdmissionLimits(circuitBreaker: CircuitLimits(consecutiveFailures: 1))

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func layer(
        _ server: PhotoServer, status: SettableNetworkStatus = SettableNetworkStatus(),
        admission: AdmissionLimits = AdmissionLimits(), pipeline: RequestPipeline = .tested
    ) -> StubbedLayer {
        StubbedLayer(pipeline: pipeline, status: status, admission: admission, retrying: .retrying) {
            request throws(NetworkError) in
            try await server.respond(to: request)
        }
    }

    /// Uploads a file so many times in parallel. Time passes only while an upload waits, and not before the circuit has opened if it is to
    /// open.
    private func upload(
        byteCount: Int, times: Int, on layer: StubbedLayer, opensCircuit: Bool
    ) async throws -> [Result<RawData, NetworkError>] {
        let file = folder.file()
        try Data(count: byteCount).write(to: file)
        let uploads = Task { [network = layer.network] in
            await withTaskGroup(of: Result<RawData, NetworkError>.self) { group in
                for id in 1...times {
                    group.addTask {
                        do throws(NetworkError) {
                            return .success(try await network.upload(Photo(id: id, file: file)))
                        } catch {
                            return .failure(error)
                        }
                    }
                }
                var results: [Result<RawData, NetworkError>] = []
                for await result in group { results.append(result) }
                return results
            }
        }
        if opensCircuit {
            try await waitUntil("the circuit to open") {
                guard let head = layer.transport.requests.first?.head else { return false }
                return !layer.network.admission.isCircuitClosed(to: CircuitTarget(head, of: Photo.self))
            }
        }
        return await layer.drive(within: Archive.deadline) { _ in await uploads.value }
    }

    private func decisions<Decision: StageDecision>(
        of type: Decision.Type, on layer: StubbedLayer
    ) async -> [Decision] {
        await layer.network.flushRecords()
        return layer.records.records.flatMap { $0.decisions(of: type) }
    }

    private func openings(on layer: StubbedLayer) async -> Int {
        await decisions(of: AdmissionDecision.self, on: layer).count { if case .opened = $0 { true } else { false } }
    }

    private func holds(on layer: StubbedLayer) async -> Int {
        await decisions(of: UploadDecision.self, on: layer).count {
            if case .heldByCircuit = $0 { true } else { false }
        }
    }

    @Test func parallelUploadsOutliveTheirCircuit() async throws {
        let layer = layer(PhotoServer(losses: 5, atOnce: 5, afterParts: 1))
        let results = try await upload(byteCount: 400_000, times: 5, on: layer, opensCircuit: true)
        for result in results { _ = try result.get() }
        #expect(await openings(on: layer) == 1)
        #expect(await holds(on: layer) > 0)
        // What was refused was not sent: for each the request, one for the offset, and one with the rest.
        #expect(layer.transport.requests.count == 15)
    }

    @Test func elevenCutsOfAnUploadOpenNoCircuit() async throws {
        let layer = layer(PhotoServer(losses: 11, afterParts: 3))
        let results = try await upload(
            byteCount: 12 * 3 * PhotoServer.partByteCount, times: 1, on: layer, opensCircuit: false)
        for result in results { _ = try result.get() }
        #expect(await openings(on: layer) == 0)
        #expect(layer.transport.requests.count == 1 + 2 * 11)
    }

    @Test func lossesAfterTheWholeBodyOpenTheCircuit() async throws {
        let layer = layer(PhotoServer(losses: 5, atOnce: 5, afterParts: 4))
        let results = try await upload(
            byteCount: 3 * PhotoServer.partByteCount, times: 5, on: layer, opensCircuit: true)
        for result in results { _ = try result.get() }
        #expect(await openings(on: layer) == 1)
    }

    @Test func uploadsToADeadServerEnd() async throws {
        let layer = layer(PhotoServer(losses: 5, atOnce: 5, afterParts: 1, isDeadAfterwards: true))
        let results = try await upload(byteCount: 400_000, times: 5, on: layer, opensCircuit: true)
        #expect(results.count == 5 && results.compactMap { try? $0.get() }.isEmpty)
        #expect(await holds(on: layer) > 0)
        // Each has made three attempts at most, those for the offset included.
        #expect(layer.transport.requests.count <= 15)
    }

    /// Uploads a file over a connection that is lost once, which opens the circuit, and calls `change` when the circuit holds the upload.
    private func upload(heldOn layer: StubbedLayer, _ change: () async throws -> Void) async throws {
        let file = folder.file()
        try Data(count: 400_000).write(to: file)
        let upload = Task { [network = layer.network] in
            let options = CallOptions(retry: RetryPolicy(baseWait: .zero))
            return try await network.upload(Photo(id: 1, file: file), options: options)
        }
        // Also if the wait throws, so that the upload ends.
        defer { upload.cancel() }
        try await waitUntil("the circuit to hold the upload") { layer.clock.nextDeadline?.offset == .seconds(1) }
        try await change()
        _ = try await upload.value
        #expect(layer.transport.requests.count == 3)
        #expect(await holds(on: layer) == 1)
    }

    @Test func heldUploadContinuesOnAnotherNetwork() async throws {
        let status = SettableNetworkStatus(.wifi)
        let server = PhotoServer(losses: 1, afterParts: 1)
        let layer = layer(server, status: status, admission: Self.firstFailureOpens)
        try await upload(heldOn: layer) {
            status.set(.none)
            // Without a network it waits on.
            #expect(layer.clock.nextDeadline?.offset == .seconds(1))
            status.set(.cellular)
            try await waitUntil("the rest of the upload") { layer.transport.requests.count == 3 }
        }
    }

    @Test func circuitOfARewrittenHostHoldsTheUpload() async throws {
        var pipeline = RequestPipeline.tested
        pipeline.insert(RelayStage(), before: .admission)
        let server = PhotoServer(losses: 1, afterParts: 1)
        let layer = layer(server, admission: Self.firstFailureOpens, pipeline: pipeline)
        try await upload(heldOn: layer) { layer.clock.advance(by: .seconds(1)) }
    }

    @Test func onlyAnotherNetworkEndsTheWaitForCircuits() async throws {
        let (control, clock) = (AdmissionControl(AdmissionLimits()), ManualClock())
        let layerClock = LayerClock(clock)
        let generation = control.networkGeneration
        // As when the network is lost between a refusal and the wait.
        control.forgetFailures()
        let wait = Task { await control.waitForCircuit(since: generation, until: .seconds(1), on: layerClock) }
        try await waitUntil("the wait") { clock.nextDeadline?.offset == .seconds(1) }
        control.endWaitsForCircuits()
        #expect(await wait.value == .granted)
        // As when another network comes between the two.
        #expect(await control.waitForCircuit(since: generation, until: .seconds(1), on: layerClock) == .granted)
        #expect(clock.now.offset == .zero)
    }

    @Test func byteByByteUploadEndsAfterItsAttempts() async throws {
        let layer = layer(PhotoServer(losses: .max, afterParts: 3, storing: 1))
        let results = try await upload(
            byteCount: 4 * PhotoServer.partByteCount, times: 1, on: layer, opensCircuit: false)
        #expect(results.count == 1 && results.compactMap { try? $0.get() }.isEmpty)
        // Three attempts, and two requests for the offset, which increased before each.
        #expect(layer.transport.requests.count == 5)
    }
}

/// A server in memory that stores uploads in parts, and loses connections.
private final class PhotoServer: Sendable {
    /// The size of the parts in which a file is sent.
    static let partByteCount = 128 << 10

    private struct State {
        /// How many bytes of each upload came.
        var byteCounts: [Substring: Int] = [:]
        var losses = 0
    }

    private let losses: Int
    private let atOnce: Int
    private let partCount: Int
    private let storedByteCount: Int
    private let isDeadAfterwards: Bool
    /// How many requests have come to the point where their connections are lost.
    private let arrivals = AwaitedValue(0)
    /// Guards what came, and how many connections were lost.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - losses: How many requests with a body lose their connection, the first ones.
    ///   - atOnce: How many are lost together.
    ///   - partCount: How many parts come before.
    ///   - storedByteCount: The most bytes of a part that are stored. By default all are.
    ///   - isDeadAfterwards: Whether every later request loses its connection, too.
    init(
        losses: Int, atOnce: Int = 1, afterParts partCount: Int, storing storedByteCount: Int = .max,
        isDeadAfterwards: Bool = false
    ) {
        self.losses = losses
        self.atOnce = atOnce
        self.partCount = partCount
        self.storedByteCount = storedByteCount
        self.isDeadAfterwards = isDeadAfterwards
    }

    func respond(to request: Request) async throws(NetworkError) -> Response {
        let id = request.head.path?.split(separator: "/").last ?? ""
        let isLost = losesConnection(request)
        if isDeadAfterwards, !isLost { throw Self.lost }
        if request.head.method == .head { return response(.noContent, isComplete: false, of: id) }
        if request.head.method == .put {
            // The host of the endpoint, whatever host a stage sent the request to.
            let location = "https://archive.example/uploads/\(id)"
            let fields: HTTPFields = [.location: location, .uploadDraftInteropVersion: "6"]
            request.onInterim?(HTTPResponse(status: HTTPResponse.Status(code: 104), headerFields: fields), request.head)
        }
        do {
            try await store(request.body, of: id, partCount: isLost ? partCount : .max)
            if isLost {
                arrivals.update { $0 += 1 }
                try await arrivals.wait(until: atOnce)
            }
        } catch {
            throw NetworkError(.invalidResponse, in: .transporting, "\(error)")
        }
        if isLost { throw Self.lost }
        return response(.ok, isComplete: true, of: id)
    }

    private func losesConnection(_ request: Request) -> Bool {
        if request.head.method == .head { return false }
        return state.withLock { state in
            state.losses += 1
            return state.losses <= losses
        }
    }

    private func store(_ body: RequestBody, of id: Substring, partCount: Int) async throws {
        guard case .stream(let stream, _, _) = body else { return }
        var parts = stream.makeAsyncIterator()
        var count = 0
        while count < partCount, let part = try await parts.next() {
            count += 1
            state.withLock { $0.byteCounts[id, default: 0] += min(part.count, storedByteCount) }
        }
    }

    private func response(_ status: HTTPResponse.Status, isComplete: Bool, of id: Substring) -> Response {
        let byteCount = state.withLock { $0.byteCounts[id] ?? 0 }
        var head = HTTPResponse(status: status)
        head.headerFields[.uploadOffset] = "\(byteCount)"
        head.headerFields[.uploadComplete] = isComplete ? "?1" : "?0"
        return Response(head: head, body: .whole(RawData([], response: head)))
    }

    private static var lost: NetworkError {
        NetworkError(.noNetwork, in: .transporting, "The connection was lost.", sending: .sent)
    }
}
