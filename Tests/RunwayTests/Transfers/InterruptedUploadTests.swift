import Foundation
import HTTPTypes
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

    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func layer(_ server: PhotoServer) -> StubbedLayer {
        StubbedLayer(admission: AdmissionLimits(), retrying: .retrying) { request throws(NetworkError) in
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
    private let isDeadAfterwards: Bool
    /// How many requests have come to the point where their connections are lost.
    private let arrivals = AwaitedValue(0)
    /// Guards what came, and how many connections were lost.
    private let state = Mutex(State())

    /// - Parameters:
    ///   - losses: How many requests with a body lose their connection, the first ones.
    ///   - atOnce: How many are lost together.
    ///   - partCount: How many parts come before.
    ///   - isDeadAfterwards: Whether every later request loses its connection, too.
    init(losses: Int, atOnce: Int = 1, afterParts partCount: Int, isDeadAfterwards: Bool = false) {
        self.losses = losses
        self.atOnce = atOnce
        self.partCount = partCount
        self.isDeadAfterwards = isDeadAfterwards
    }

    func respond(to request: Request) async throws(NetworkError) -> Response {
        let id = request.head.path?.split(separator: "/").last ?? ""
        let isLost = losesConnection(request)
        if isDeadAfterwards, !isLost { throw Self.lost }
        if request.head.method == .head { return response(.noContent, isComplete: false, of: id) }
        if request.head.method == .put {
            let fields: HTTPFields = [.location: "/uploads/\(id)", UploadFields.versionName: "6"]
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
            state.withLock { $0.byteCounts[id, default: 0] += part.count }
        }
    }

    private func response(_ status: HTTPResponse.Status, isComplete: Bool, of id: Substring) -> Response {
        let byteCount = state.withLock { $0.byteCounts[id] ?? 0 }
        var head = HTTPResponse(status: status)
        head.headerFields[UploadFields.offsetName] = "\(byteCount)"
        head.headerFields[UploadFields.completeName] = isComplete ? "?1" : "?0"
        return Response(head: head, body: .whole(RawData([], response: head)))
    }

    private static var lost: NetworkError {
        NetworkError(.noNetwork, in: .transporting, "The connection was lost.", sending: .sent)
    }
}
