import Foundation
import HTTPTypes
import RunwayFormats
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Uploads by a method that must not be sent twice, and what the app can resume of them.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct ResumedUploadTests {
    private struct Film: Endpoint {
        static let service = Archive.self
        static let method = HTTPRequest.Method.post
        static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
        static let uploadResumption = UploadResumption.on
        static let retry = RetryPolicy(maximumAttempts: 2, baseWait: .zero)
        @Unencoded var file: URL
        var path: EndpointPath { "films" }
        var content: RequestBody { get throws { try .file(file) } }
    }

    /// The same, of which nothing is stored for a later call.
    private struct PassingFilm: Endpoint {
        static let service = Archive.self
        static let method = Film.method
        static let encoding = Film.encoding
        static let uploadResumption = UploadResumption(outlivesCall: false)
        static let retry = Film.retry
        @Unencoded var file: URL
        var path: EndpointPath { "films" }
        var content: RequestBody { get throws { try .file(file) } }
    }

    /// The methods of the requests that the server got.
    private let methods = MethodLog()
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    /// A layer whose server gets a film, loses the connection before it responds, and can't be reached by the request for the offset. The
    /// later requests for the offset get a response of `status`.
    private func layer(then status: HTTPResponse.Status) -> NetworkLayer {
        let transport = StubTransport { [methods] request throws(NetworkError) in
            let number = methods.add(request.head.method)
            if request.head.method == .head, number == 2 {
                throw NetworkError(.noNetwork, in: .transporting, "No connection.", sending: .notSent)
            }
            guard request.head.method == .post, case .stream(let body, _, _) = request.body else {
                let fields: HTTPFields = [.uploadOffset: "400000", .uploadComplete: "?1"]
                let head = HTTPResponse(status: status, headerFields: status == .notFound ? [:] : fields)
                return Response(head: head, body: .whole(RawData([], response: head)))
            }
            let fields: HTTPFields = [.location: "/uploads/1", .uploadDraftInteropVersion: "6"]
            request.onInterim?(HTTPResponse(status: HTTPResponse.Status(code: 104), headerFields: fields), request.head)
            do { _ = try await body.collect(upTo: 1 << 20) } catch {
                throw NetworkError(.storage, in: .transporting, "")
            }
            throw NetworkError(.noNetwork, in: .transporting, "The connection was lost.", sending: .sent)
        }
        return NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(ManualClock()),
            limits: LayerLimits(admission: .none, retrying: .retrying))
    }

    /// Uploads a film, and returns its manager when it has failed.
    private func failed<Upload: Endpoint>(
        on network: NetworkLayer, _ makeUpload: (URL) -> Upload
    ) async throws -> UploadManager<Upload> {
        let file = folder.file()
        try Data(count: 400_000).write(to: file)
        let manager = UploadManager<Upload>(on: network)
        let error = await #expect(throws: NetworkError.self) { try await manager.landing(of: makeUpload(file)) }
        #expect(error?.kind == .noNetwork && error?.sending == .sent)
        #expect(methods.all == [.post, .head])
        return manager
    }

    @Test func continuingUploadIsResumedAndNotSentTwice() async throws {
        let network = layer(then: .noContent)
        let manager = try await failed(on: network) { Film(file: $0) }
        let resumed = try #require(network.resumeCalls(of: Archive.self).first)
        _ = try await manager.landing(of: resumed)
        #expect(methods.all == [.post, .head, .head])
    }

    @Test func forgottenUploadMayHaveTakenEffect() async throws {
        let network = layer(then: .notFound)
        let manager = try await failed(on: network) { Film(file: $0) }
        let resumed = try #require(network.resumeCalls(of: Archive.self).first)
        let error = await #expect(throws: NetworkError.self) { try await manager.landing(of: resumed) }
        #expect(error?.status == .notFound && methods.all == [.post, .head, .head])
    }

    @Test func resumedUploadWithoutRecordIsNotResent() async throws {
        let network = layer(then: .noContent)
        let manager = try await failed(on: network) { Film(file: $0) }
        try FileManager.default.removeItem(at: URL(fileURLWithPath: folder.file().path + ".upload"))
        let resumed = try #require(network.resumeCalls(of: Archive.self).first)
        let error = await #expect(throws: NetworkError.self) { try await manager.landing(of: resumed) }
        #expect(error?.kind == .storage && methods.all == [.post, .head])
    }

    @Test func twiceResumedUploadWithoutRecordIsNotResent() async throws {
        let network = layer(then: .unauthorized)
        let manager = try await failed(on: network) { Film(file: $0) }
        let second = try #require(network.resumeCalls(of: Archive.self).first)
        // The request for the offset is refused, so that nothing of this call can have taken effect.
        let refusal = await #expect(throws: NetworkError.self) { try await manager.landing(of: second) }
        #expect(refusal?.kind == .needsAccessToken && methods.all == [.post, .head, .head])
        try FileManager.default.removeItem(at: URL(fileURLWithPath: folder.file().path + ".upload"))
        let third = try #require(network.resumeCalls(of: Archive.self).first)
        let error = await #expect(throws: NetworkError.self) { try await manager.landing(of: third) }
        #expect(error?.kind == .storage && methods.all == [.post, .head, .head])
    }

    @Test func uploadThatCannotContinueIsNotResumed() async throws {
        let network = layer(then: .noContent)
        let manager = try await failed(on: network) { PassingFilm(file: $0) }
        #expect(network.resumeCalls(of: Archive.self).isEmpty && !manager.isLoading)
    }
}

/// The methods of requests, in order.
private final class MethodLog: Sendable {
    /// Guards the methods.
    private let methods = Mutex<[HTTPRequest.Method]>([])

    var all: [HTTPRequest.Method] { methods.withLock { $0 } }

    /// Adds a method, and returns how many there are.
    func add(_ method: HTTPRequest.Method) -> Int {
        methods.withLock { methods in
            methods.append(method)
            return methods.count
        }
    }
}
