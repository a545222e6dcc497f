import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

extension StageChain {
    /// The part of the chain below a step, over a transport of its own.
    func rest(below step: FlightStep, over transport: any Transport) -> RequestPipeline.Rest {
        var link = first
        while let current = link, current.stage.step != step { link = current.next }
        return RequestPipeline.Rest(first: link?.next, end: TransportLink(transport))
    }
}

/// A stage that handles requests of one method, and records which requests reach it.
private final class MethodStage: RequestStage {
    /// Guards the methods of the requests that passed the stage.
    private let seen = Mutex<[HTTPRequest.Method]>([])
    var methods: [HTTPRequest.Method] { seen.withLock { $0 } }
    var step: FlightStep { .customStage("method") }

    func handles(_ request: Request, in flight: Flight) -> Bool { request.head.method == .get }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        seen.withLock { $0.append(request.head.method) }
        return try await next.send(request, in: flight)
    }
}

struct StageChainTests {
    private struct Move: Endpoint {
        static let service = Library.self
        static let method = HTTPRequest.Method.post
        var path: EndpointPath { "move" }
    }

    @Test func requestsSkipStagesThatDoNotHandleThem() async throws {
        let stage = MethodStage()
        var pipeline = RequestPipeline()
        pipeline.insert(stage, after: .redirecting)
        let layer = StubbedLayer(pipeline: pipeline)
        _ = try await layer.network.call(Move())
        #expect(stage.methods == [])
        #expect(layer.transport.requests.map(\.head.method) == [.post])
    }

    @Test func eachHopIsAskedForAnew() async throws {
        let stage = MethodStage()
        var pipeline = RequestPipeline()
        pipeline.insert(stage, after: .redirecting)
        let layer = StubbedLayer(pipeline: pipeline) { request in
            guard request.head.method == .post else { return .json("{}") }
            let head = HTTPResponse(status: .seeOther, headerFields: [.location: "/v1/moved"])
            return Response(head: head, body: .whole(RawData([], response: head)))
        }
        _ = try await layer.network.call(Move())
        #expect(layer.transport.requests.map(\.head.method) == [.post, .get])
        #expect(stage.methods == [.get])
    }
}
