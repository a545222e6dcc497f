import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Runway
import RunwayServer
import RunwaySyncCore
import RunwayTransport
import Synchronization

/// A server of spaces and their files on a free port of the loopback.
struct FileServer: Sendable {
    /// The requests that came, and their failures.
    final class Control: Sendable {
        private struct State {
            var requests: [String] = []
            var endedUploadCount = 0
            var held: [CheckedContinuation<Void, Never>] = []
            /// The number of bytes of an upload after which it is held; `nil` to let all pass.
            var heldAfter: Int?
            var lie: [UInt8]?
        }

        /// Guards the requests and the failures.
        private let state = Mutex(State())

        /// The methods of the requests for files, in their order. A part of an upload is a `PATCH`.
        var methods: [String] { state.withLock { $0.requests } }
        func count(_ method: String) -> Int { methods.filter { $0 == method }.count }
        /// Whether an upload is held.
        var isHolding: Bool { state.withLock { !$0.held.isEmpty } }
        /// The number of uploads whose response or failure is known.
        var endedUploadCount: Int { state.withLock { $0.endedUploadCount } }

        /// Holds uploads after a number of bytes, until ``release()``.
        func holdUploads(after byteCount: Int) { state.withLock { $0.heldAfter = byteCount } }

        func release() {
            let held = state.withLock { state in
                state.heldAfter = nil
                defer { state.held = [] }
                return state.held
            }
            for continuation in held { continuation.resume() }
        }

        /// Sends these bytes instead of each file.
        func lie(_ bytes: [UInt8]?) { state.withLock { $0.lie = bytes } }
        fileprivate var lie: [UInt8]? { state.withLock { $0.lie } }

        fileprivate func note(_ request: Hummingbird.Request) {
            let path = request.uri.path
            guard path.contains("/files/") || path.hasPrefix("/_uploads/") else { return }
            state.withLock { $0.requests.append(request.method.rawValue) }
        }

        fileprivate func noteEnd() { state.withLock { $0.endedUploadCount += 1 } }

        fileprivate func wait(after byteCount: Int) async {
            await withCheckedContinuation { continuation in
                let isHeld = state.withLock { state in
                    guard let bound = state.heldAfter, byteCount >= bound else { return false }
                    state.held.append(continuation)
                    return true
                }
                if !isHeld { continuation.resume() }
            }
        }
    }

    /// Counts the bytes of a body.
    private final class Count: Sendable {
        /// Guards the number of bytes.
        private let byteCount = Mutex(0)

        /// Returns the number of bytes before a part.
        func add(_ part: ByteBuffer) -> Int {
            byteCount.withLock { count in
                defer { count += part.readableBytes }
                return count
            }
        }
    }

    private struct Responder<Base: HTTPResponder>: HTTPResponder {
        let base: Base
        let control: Control

        @concurrent
        func respond(to request: Hummingbird.Request, context: Base.Context) async throws -> Hummingbird.Response {
            control.note(request)
            if request.method == .get, request.uri.path.contains("/files/"), let lie = control.lie {
                return Hummingbird.Response(
                    status: .ok, headers: [.eTag: "\"lie\""], body: .init(byteBuffer: ByteBuffer(bytes: lie)))
            }
            var request = request
            let isUpload = [.put, .patch].contains(request.method)
            defer { if isUpload { control.noteEnd() } }
            if isUpload {
                let count = Count()
                let held = request.body.map { [control] part in
                    await control.wait(after: count.add(part))
                    return part
                }
                request.body = RequestBody(asyncSequence: held)
            }
            return try await base.respond(to: request, context: context)
        }
    }

    private struct Builder<Base: HTTPResponderBuilder>: HTTPResponderBuilder {
        let base: Base
        let control: Control

        func buildResponder() -> Responder<Base.Responder> { Responder(base: base.buildResponder(), control: control) }
    }

    let port: Int
    let control: Control
    let service: SyncService
    /// The folder of the files.
    let folder: URL

    /// The names of the stored files.
    var stored: [String] {
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return names.filter { $0.count > 64 }.map { String($0.suffix(64)) }.sorted()
    }

    func makeNetwork() throws -> NetworkLayer {
        let network = NetworkLayer(transport: try NIOTransport())
        network.configure(Backend.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
        return network
    }

    /// Serves while `body` runs.
    ///
    /// - Parameters:
    ///   - files: The files of the router. The default is a folder.
    ///   - rights: The rights of all devices. The default allows all.
    static func run(
        conflicts: [String: ConflictPolicy] = [:], files: SyncFiles? = nil,
        rights: @escaping SyncService.Rights = { _, _, _ in true }, _ body: (FileServer) async throws -> Void
    ) async throws {
        let (control, hub, temporary) = (Control(), try await EventHub(name: "sync"), try TemporaryFolder())
        let folder = temporary.url.appending(path: "files")
        let router = Router(context: BasicSignedRequestContext.self)
        let service = SyncService(store: .memory(), hub: hub, conflicts: conflicts, rights: rights)
        SyncRouter(service, files: files ?? .folder(folder.path, maximumByteCount: 64 << 20)) { _, _ in "ada" }
            .add(to: router)
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router)
        let uploads = UploadRouter(router, folder: temporary.url.appending(path: "uploads").path) { _, _ in
            .account("ada")
        }
        let (ports, announced) = AsyncStream<Int>.makeStream()
        let application = Application(
            router: Builder(base: uploads, control: control),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { announced.yield($0.localAddress?.port ?? 0) },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // However a server ends that is cancelled is no affair of the test.
                do { try await application.run() } catch { announced.finish() }
            }
            defer {
                control.release()
                group.cancelAll()
            }
            guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
            try await body(FileServer(port: port, control: control, service: service, folder: folder))
        }
        withExtendedLifetime(temporary) {}
    }
}
