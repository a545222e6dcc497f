import Foundation
import HTTPTypes
public import Hummingbird
import Logging
import NIOCore
import RunwaySyncCore

/// Serves the spaces of a ``SyncService`` to devices; the format is in `docs/formats.md`.
///
/// | request | effect |
/// |---|---|
/// | `POST {space}/push` | decides on the transactions of a device, and returns the verdicts |
/// | `GET {space}/pull` | returns the log after a cursor |
/// | `POST {space}/snapshot` | returns a page of all rows |
/// | `HEAD`, `GET` and `PUT` of `{space}/files/{digest}` | finds, returns and stores a file that rows name |
///
/// | status | `error` | meaning |
/// |---|---|---|
/// | 401 | | the app's closure threw `HTTPError(.unauthorized)` |
/// | 403 | `space-revoked` | the subject must not read the space; the device removes its rows |
/// | 403 | `device-taken` | the id of the device belongs to another subject |
/// | 404 | | the space is no UUID |
/// | 409 | `gap`, `forked` | operations of the device are absent, or others have their numbers |
/// | 410 | `horizon`, `history` | the cursor is older than the log, or belongs to another history |
/// | 413 | `tooLarge` | the body is too large; the device divides its packet |
/// | 422 | `invalid` | the request is malformed |
/// | 426 | `upgrade` | the app is too old |
/// | 429 | `too-many-devices` | the subject has 1,000 devices in the space |
/// | 503 | `wait` | the store is busy or fails; with `Retry-After` |
///
/// For files, 403 also has `forbidden`, 404 means that the file is absent, 413 that it is too large, 422 that its bytes
/// do not have the digest, and 507 `full` that the disk is full; 307 redirects to ``SyncFiles/Location``.
public struct SyncRouter<Context: RequestContext>: Sendable {
    /// Returns the subject that sends a request, such as the id of an account. It is called before the body is read.
    public typealias Authentication = @Sendable (Request, Context) async throws -> String

    let service: SyncService
    private let files: SyncFiles?
    let authenticate: Authentication

    /// Creates routes for a service.
    ///
    /// - Parameters:
    ///   - service: The service that handles the requests.
    ///   - files: Stores the files that rows name. The default, `nil`, serves none. So that devices continue
    ///     interrupted uploads, pass the app's router to an ``UploadRouter``.
    ///   - authenticate: Returns the subject that sends a request, or throws.
    public init(_ service: SyncService, files: SyncFiles? = nil, authenticate: @escaping Authentication) {
        (self.service, self.files, self.authenticate) = (service, files, authenticate)
    }

    /// Adds the routes to a router or a router group.
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path below the group's. The default is `sync`.
    public func add(to router: some RouterMethods<Context>, path: RouterPath = "sync") {
        for name in ["push", "snapshot"] {
            router.post("\(path)/:space/\(name)") { try await respond(to: .post, name, $0, $1) }
        }
        router.get("\(path)/:space/pull") { try await respond(to: .get, "pull", $0, $1) }
        guard let files else { return }
        for method in [HTTPRequest.Method.head, .get, .put] {
            router.on("\(path)/:space/files/:digest", method: method) { try await respond($0, $1, with: files) }
        }
    }

    private func respond(
        to method: WireRequest.Method, _ name: String, _ request: Request, _ context: Context
    ) async throws -> Response {
        guard let space = Identifier(try context.parameters.require("space")) else { throw HTTPError(.notFound) }
        let subject = try await authenticate(request, context)
        var wire = WireRequest(method: method, name: name)
        wire.query = request.uri.queryParameters.map { .init(String($0.key), String($0.value)) }
        if method == .post {
            do {
                let body = try await BodyCollector.shared.collect(request.body, upTo: WireBounds.bodyBytes)
                wire.body = Array(body.readableBytesView)
            } catch is NIOTooManyBytesError {
                return Response(.tooLarge)
            }
        }
        guard let decoded = try? SyncRequest(wire) else { return Response(.invalid) }
        do {
            return Response(
                try await service.respond(to: decoded, in: space, as: subject, byteCount: wire.body.count))
        } catch let refusal as StoreRefusal {
            return Response(refusal == .rejected ? .invalid : .wait(milliseconds: 1_000))
        } catch {
            if error is CancellationError { throw error }
            context.logger.error("The store of the synchronisation failed: \(error)")
            return Response(.wait(milliseconds: 1_000))
        }
    }
}

extension Response {
    fileprivate init(_ response: SyncResponse) {
        let wire = response.wire
        self.init(json: wire.body, status: .init(code: wire.status))
        if case .wait(let milliseconds) = response { headers[.retryAfter] = "\((milliseconds + 999) / 1_000)" }
    }
}
