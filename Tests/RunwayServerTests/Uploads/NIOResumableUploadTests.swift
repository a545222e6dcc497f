import Crypto
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOResumableUpload
import Runway
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

/// The layer's half against the server's half of swift-nio-extras.
@Suite(.timeLimit(.minutes(10)))
struct NIOResumableUploadTests {
    /// What the handler behind the uploads got.
    private final class Received: Sendable {
        private let requests = Mutex<[(method: HTTPRequest.Method, byteCount: Int, digest: String)]>([])
        var all: [(method: HTTPRequest.Method, byteCount: Int, digest: String)] { requests.withLock { $0 } }
        func add(_ method: HTTPRequest.Method, _ byteCount: Int, _ digest: String) {
            requests.withLock { $0.append((method, byteCount, digest)) }
        }
    }

    private final class Digesting: ChannelInboundHandler {
        typealias InboundIn = HTTPRequestPart
        typealias OutboundOut = HTTPResponsePart
        private let received: Received
        private var hash = SHA256()
        private var byteCount = 0
        private var method = HTTPRequest.Method.get

        init(_ received: Received) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): method = head.method
            case .body(let part):
                hash.update(data: Array(part.readableBytesView))
                byteCount += part.readableBytes
            case .end:
                received.add(method, byteCount, hexadecimal(hash.finalize()))
                let body = ByteBuffer(string: "{}")
                let head = HTTPResponse(
                    status: .created, headerFields: [.contentType: "application/json", .contentLength: "2"])
                context.write(wrapOutboundOut(.head(head)), promise: nil)
                context.write(wrapOutboundOut(.body(body)), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }
    }

    /// Serves behind a path whose connections a test cuts.
    private func withServer(
        _ body: (Received, NetworkPath, UploadingLayer) async throws -> Void
    ) async throws {
        let received = Received()
        // The URLs of uploads are those of the path, which is known later.
        let context = Mutex<HTTPResumableUploadContext?>(nil)
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline()
                    try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
                    guard let context = context.withLock({ $0 }) else { throw ChannelError.eof }
                    try pipeline.addHandler(
                        HTTPResumableUploadHandler(context: context, handlers: [Digesting(received)]))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let bad = try await BadNetwork(to: server.localAddress?.port ?? 0, addresses: 1)
        context.withLock {
            $0 = HTTPResumableUploadContext(origin: "http://\(bad.paths[0].address):\(bad.port)")
        }
        let layer = try UploadingLayer(host: bad.paths[0].address, port: bad.port)
        let result: Result<Void, any Error>
        do { result = .success(try await body(received, bad.paths[0], layer)) } catch { result = .failure(error) }
        await layer.shutDown()
        await bad.shutDown()
        try await server.close()
        try result.get()
    }

    @Test func uploadThatIsCutContinues() async throws {
        let folder = try UploadFolder()
        let digest = try folder.writeFile(byteCount: 16_000_000)
        try await withServer { received, path, layer in
            path.cut(atSentByteCounts: [5_000_000, 11_000_000])
            let rawData = try await layer.network.upload(FilmUpload(film: folder.file))
            #expect(rawData.text == "{}")
            #expect(received.all.map(\.digest) == [digest] && received.all.first?.method == .put)
            #expect(path.sentByteCount < 16_000_000 + 2 * 4_000_000)
            let record = try #require(try await layer.records.records(count: 1).first)
            #expect(record.resumptionCount == 2)
        }
    }

    @Test func uploadInOneGoNeedsOneRequest() async throws {
        let folder = try UploadFolder()
        let digest = try folder.writeFile(byteCount: 2_000_000)
        try await withServer { received, _, layer in
            _ = try await layer.network.upload(FilmUpload(film: folder.file))
            #expect(received.all.map(\.digest) == [digest])
            let record = try #require(try await layer.records.records(count: 1).first)
            #expect(record.attempts.count == 1)
            #expect(record.attempts.first?.wire?.informationalStatuses == [104])
        }
    }

    @Test func newestVersionIsSentWithoutResumption() async throws {
        let folder = try UploadFolder()
        _ = try folder.writeFile(byteCount: 1000)
        try await withServer { received, _, layer in
            // swift-nio-extras refuses versions that it does not know.
            await #expect(throws: NetworkError.self) {
                try await layer.network.upload(NewFilmUpload(film: folder.file))
            }
            #expect(received.all.isEmpty)
        }
    }
}
