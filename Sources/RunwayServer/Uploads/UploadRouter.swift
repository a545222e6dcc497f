public import Foundation
public import HTTPTypes
public import Hummingbird
import Logging
import RunwayFormats

/// A router that also receives resumable uploads (draft-ietf-httpbis-resumable-upload).
///
/// ```swift
/// let router = Router(context: UploadRequestContext.self)
/// router.put("films/{id}") { request, context in try await store(request.body) }
/// let uploads = UploadRouter(router, folder: "/var/lib/app/uploads") { request, context in
///     .account(try await account(of: request))
/// }
/// let app = Application(router: uploads)
/// ```
///
/// A request whose client offers to resume it, with `Upload-Complete` and a known version of the draft, gets an interim
/// response of status 104 with the URL of its upload. Its content is stored in the folder as it arrives. When all of
/// the content has arrived, in one request or in several, the router gets one request: with the method and the path of
/// the first request, and the whole content as its body. All other requests pass unchanged.
///
/// Only some header fields of the first request are stored in the folder and passed on: those that describe the
/// content, such as `Content-Type` and `Content-Disposition`, conditions, `Accept` and its kin, `Prefer`,
/// `Idempotency-Key`, `User-Agent`, `Date`, and the fields that `storing` adds. All other fields come from the last
/// request and are never stored, whatever field an app authenticates by. The router's middleware therefore judges
/// whether the client still has access; after a 401 the client may complete the upload again.
///
/// The upload has a URL of its own, which contains 192 random bits as a secret: `HEAD` returns the offset, `PATCH`
/// appends, `DELETE` removes. A request for an upload replaces a request that still appends, whose connection is
/// closed. Requests to that URL do not pass the router's middleware: `owner` binds an upload to its client. Received
/// bytes take space from all uploads, from the owner's share and from the source's share (``UploadLimits``).
///
/// Uploads outlive the server's process. They are removed after a restart of the system, since their last bytes may not
/// have reached the disk; an upload whose handler was running when the process ended is removed, too. Only one process
/// may use a folder at a time.
///
/// The versions of the draft are 3, 5, 6, 7 and 8. A client without any can create an upload with
/// `Upload-Complete: ?0`.
public struct UploadRouter<Base: HTTPResponderBuilder>: HTTPResponderBuilder
where Base.Responder.Context: InterimResponseContext {
    /// Returns whom an upload belongs to.
    public typealias Owner = @Sendable (Request, Base.Responder.Context) async throws -> UploadOwner
    /// Returns the source of a request; `nil` if it takes no source's share.
    public typealias Source = @Sendable (Request, Base.Responder.Context) -> String?

    private let base: Base
    private let store: UploadStore
    private let path: String
    private let origin: String
    private let owner: Owner
    private let source: Source
    private let storedFields: StoredFields

    /// Receives resumable uploads for the routes of a router.
    ///
    /// - Parameters:
    ///   - base: The app's router.
    ///   - folder: The folder for uploads, readable only by its user (mode 0700). It is created if its parent folder
    ///     exists.
    ///   - path: The path of the URLs of uploads. The default is `/_uploads`.
    ///   - origin: Scheme and authority of the server as clients see them, such as `https://api.example.com`, for URLs
    ///     that are complete. The default, `nil`, is URLs without them (RFC 9110 §10.2.2).
    ///   - limits: The bounds of uploads.
    ///   - fields: The names of further header fields of the first request that are stored with an upload, for the
    ///     handler. Name none that authenticates. The default is empty.
    ///   - now: Returns the time by which uploads expire. The default is the wall clock's.
    ///   - clock: Measures the pace of content. The default is the continuous clock.
    ///   - source: Returns the source of a request; the uploads of a source have one share. The default is the remote
    ///     IP address, for IPv6 its first 56 bits. Behind a proxy that is the proxy's address: return the address that
    ///     the proxy states for its client.
    ///   - owner: Identifies the client of a request, for every request of an upload. Throw an `HTTPError` to refuse
    ///     one, such as 401 where the login is missing. An upload of another owner does not exist for a client: 404.
    public init<C: Clock>(
        _ base: Base, folder: String, path: String = "/_uploads", origin: String? = nil,
        limits: UploadLimits = .standard, storing fields: Set<HTTPField.Name> = [],
        now: @escaping @Sendable () -> Date = { Date() }, clock: C = ContinuousClock(),
        source: Source? = nil,
        owner: @escaping Owner
    ) where C.Duration == Duration {
        self.base = base
        self.path = path.split(separator: "/").map { "/\($0)" }.joined() + "/"
        self.origin = origin ?? ""
        self.owner = owner
        self.source = source ?? { _, context in context.channel.remoteAddress?.networkOfSource }
        storedFields = StoredFields(and: fields)
        store = UploadStore(folder: folder, limits: limits, by: ElapsedTime(clock), now: now)
    }

    /// Builds the responder; called once by the application.
    public func buildResponder() -> some HTTPResponder<Base.Responder.Context> {
        UploadResponder(
            base: base.buildResponder(), resource: UploadResource(store: store, path: path, origin: origin),
            owner: owner, source: source, storedFields: storedFields)
    }
}

/// Responds to requests like its router, and to the requests of resumable uploads.
struct UploadResponder<Base: HTTPResponder>: HTTPResponder where Base.Context: InterimResponseContext {
    let base: Base
    let resource: UploadResource
    let owner: @Sendable (Request, Base.Context) async throws -> UploadOwner
    let source: @Sendable (Request, Base.Context) -> String?
    let storedFields: StoredFields

    func respond(to request: Request, context: Base.Context) async throws -> Response {
        let fields = UploadFields(request: request.headers)
        let id = resource.id(of: request)
        guard id != nil || Self.isCreation(request, fields) else {
            let response = try await base.respond(to: request, context: context)
            return request.method == .options ? resource.announced(in: response, fields) : response
        }
        do {
            let owner = try await owner(request, context)
            if let id {
                return try await respond(to: request, for: id, of: owner, fields, context)
            }
            return try await create(request, of: owner, fields, context)
        } catch let problem as UploadProblem {
            return resource.refusal(problem, fields)
        } catch let error as any HTTPResponseError {
            return try error.response(from: request, context: context)
        } catch let failure as UploadFile.Failure {
            // What went wrong with a file is the server's own affair.
            context.logger.error("an upload can't be stored", metadata: ["runway.upload": "\(failure)"])
            return resource.refusal(failure.code == ENOSPC ? .noSpace : .storage, fields)
        }
    }

    private static func isCreation(_ request: Request, _ fields: UploadFields) -> Bool {
        guard [.post, .put, .patch].contains(request.method), let isComplete = fields.isComplete else { return false }
        // The draft forbids status 104 for a client without a known version: there is nothing to resume.
        return fields.version != nil || !isComplete
    }
}
