import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import RunwayServer
import RunwayTesting
import Synchronization

/// A folder for one test, which goes with it.
final class UploadFolder: Sendable {
    let url: URL

    init() throws {
        url = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("runway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Where a server stores uploads.
    var uploads: String { url.appendingPathComponent("uploads").path }
    /// A file that is sent.
    var file: URL { url.appendingPathComponent("film") }

    var storedNames: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: uploads)) ?? []).sorted() }

    /// The size of the content of the first upload.
    var contentByteCount: Int {
        let name = storedNames.first { $0.hasSuffix(".content") } ?? ""
        return (try? FileManager.default.attributesOfItem(atPath: uploads + "/" + name))?[.size] as? Int ?? 0
    }

    /// Writes a file of bytes that do not repeat, and returns its digest.
    func writeFile(byteCount: Int) throws -> String {
        // The key stream of a cipher, which is faster than a generator in a debug build.
        let bytes = try ChaChaPoly.seal(
            Data(count: byteCount), using: SymmetricKey(data: Data(count: 32)),
            nonce: ChaChaPoly.Nonce(data: Data(count: 12))
        ).ciphertext
        try bytes.write(to: file)
        return hexadecimal(SHA256.hash(data: bytes))
    }
}

func hexadecimal(_ digest: some Sequence<UInt8>) -> String {
    digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
}

/// What the app got.
struct HandledUpload: Sendable, Equatable {
    var method: HTTPRequest.Method
    var path: String
    var headers: HTTPFields
    var byteCount: Int
    var digest: String
}

/// An app that receives resumable uploads, and records what its handler gets.
final class UploadApp: Sendable {
    let port: Int
    let folder: UploadFolder
    private let recorder: HandledUploads

    private init(port: Int, _ folder: UploadFolder, _ recorder: HandledUploads) {
        self.port = port
        self.folder = folder
        self.recorder = recorder
    }

    var handled: [HandledUpload] { recorder.all }

    /// Serves on a free port of the loopback while `body` runs.
    static func run(
        in folder: UploadFolder, limits: UploadLimits = .standard, now: @escaping @Sendable () -> Date = { Date() },
        clock: ManualClock = ManualClock(),
        source: (@Sendable (Request, BasicSignedRequestContext) -> String?)? = { _, _ in nil },
        storing fields: Set<HTTPField.Name> = [],
        owner: @escaping @Sendable (Request, BasicSignedRequestContext) async throws -> UploadOwner = { _, _ in
            .bearer
        },
        _ body: @escaping @Sendable (UploadApp) async throws -> Void
    ) async throws {
        let handled = HandledUploads()
        let router = Router(context: BasicSignedRequestContext.self)
        router.on("films/{id}", method: .put) { request, _ in try await handled.respond(to: request) }
        router.on("films/{id}", method: .post) { request, _ in try await handled.respond(to: request) }
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let connections = OpenConnections()
        let app = Application(
            router: UploadRouter(
                router, folder: folder.uploads, limits: limits, storing: fields, now: now, clock: clock, source: source,
                owner: owner),
            server: .http1(trackedBy: connections),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                connections.add(channel)
                continuation.yield(channel.localAddress?.port ?? 0)
            },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // However a server ends that is cancelled is no affair of the test.
                do { try await connections.run { try await app.run() } } catch { continuation.finish() }
            }
            defer { group.cancelAll() }
            guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
            try await body(UploadApp(port: port, folder, handled))
        }
    }

    /// Sends a request as it stands, and returns everything that comes until the server closes the connection.
    func exchange(
        _ method: String, _ path: String, _ fields: [String] = [], _ content: String = "", announcing length: Int? = nil
    ) async throws -> String {
        let lines =
            ["\(method) \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"] + fields
            + ["Content-Length: \(length ?? content.utf8.count)"]
        let connection = try await RawConnection(to: port)
        try await connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + content)
        return try await connection.rest()
    }
}

/// Records requests of the handler.
final class HandledUploads: Sendable {
    private let requests = Mutex<[HandledUpload]>([])

    var all: [HandledUpload] { requests.withLock { $0 } }

    func respond(to request: Request) async throws -> Response {
        if request.headers[.userAgent] == "refused" { throw HTTPError(.unprocessableContent) }
        if request.headers[.authorization] == "expired" { throw HTTPError(.unauthorized) }
        var hash = SHA256()
        var byteCount = 0
        for try await part in request.body {
            hash.update(data: Array(part.readableBytesView))
            byteCount += part.readableBytes
        }
        let digest = hexadecimal(hash.finalize())
        requests.withLock {
            $0.append(
                HandledUpload(
                    method: request.method, path: request.head.path ?? "", headers: request.headers,
                    byteCount: byteCount,
                    digest: digest))
        }
        return Response(
            status: .created, headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"digest":"\#(digest)"}"#)))
    }
}

/// A connection over which a test sends what it likes.
final class RawConnection: Sendable {
    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        private var bytes = ByteBuffer()
        private let whole: EventLoopPromise<String>
        private let awaited: (text: String, promise: EventLoopPromise<Void>)

        init(_ whole: EventLoopPromise<String>, _ awaited: (text: String, promise: EventLoopPromise<Void>)) {
            self.whole = whole
            self.awaited = awaited
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            bytes.writeImmutableBuffer(unwrapInboundIn(data))
            if String(buffer: bytes).contains(awaited.text) { awaited.promise.succeed() }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

        func channelInactive(context: ChannelHandlerContext) {
            awaited.promise.fail(ChannelError.eof)
            whole.succeed(String(buffer: bytes))
        }
    }

    private let channel: any Channel
    private let whole: EventLoopFuture<String>
    private let head: EventLoopFuture<Void>

    /// - Parameter text: What ``waitForText()`` waits for. The default is the interim response of an upload.
    init(to port: Int, awaiting text: String = "HTTP/1.1 104") async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.any()
        let (whole, head) = (loop.makePromise(of: String.self), loop.makePromise(of: Void.self))
        self.whole = whole.futureResult
        self.head = head.futureResult
        channel = try await ClientBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Collector(whole, (text, head)))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
    }

    func send(_ text: String) async throws { try await channel.writeAndFlush(ByteBuffer(string: text)) }
    func waitForText() async throws { try await head.get() }
    func rest() async throws -> String { try await whole.get() }
    func close() async throws { try await channel.close() }
}

extension String {
    /// The value of the last header field of a name; `nil` if there is none.
    func field(_ name: String) -> String? {
        components(separatedBy: "\r\n").last { $0.lowercased().hasPrefix(name.lowercased() + ":") }
            .map { String($0.dropFirst(name.count + 1)).trimmingCharacters(in: .whitespaces) }
    }

    /// The statuses of the responses, in order.
    var statuses: [String] {
        components(separatedBy: "\r\n").filter { $0.hasPrefix("HTTP/1.1 ") }.map { String($0.dropFirst(9).prefix(3)) }
    }
}
