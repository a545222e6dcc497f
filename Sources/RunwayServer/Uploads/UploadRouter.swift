public import Foundation
public import HTTPTypes
public import Hummingbird
import Logging
import RunwayFormats

/// A router that also receives resumable uploads (draft-ietf-httpbis-resumable-upload).
///
/// ```swift
/// let router = Router(context: BasicSignedRequestContext.self)
/// router.put("films/{id}") { request, context in try await store(request.body) }
/// let uploads = UploadRouter(router, folder: "/var/lib/app/uploads") { request, context in
///     .account(try await account(of: request))
/// }
/// let app = Application(router: uploads)
/// ```
///
/// A client offers to resume a request by `Upload-Complete` and a known version of the draft. Such a request gets an
/// interim response of status 104 with the URL of the upload. Its content is stored in the folder as it arrives.
///
/// When all of the content has arrived, in one request or in several, the router gets one request. This request has the
/// method and the path of the first request, and the whole content as its body. All other requests pass unchanged.
///
/// Only some header fields of the first request are stored in the folder and passed on: the fields that describe the
/// content, such as `Content-Type` and `Content-Disposition`; conditions, `Accept` and related fields, `Prefer`,
/// `Idempotency-Key`, `User-Agent` and `Date`; and the fields that `storing` adds.
///
/// All other fields come from the last request and are never stored, whatever field an app authenticates by. The
/// router's middleware therefore judges whether the client still has access. After a 401 the client may complete the
/// upload again.
///
/// The URL of an upload contains 192 random bits as a secret. `HEAD` returns the offset, `PATCH` appends, and `DELETE`
/// removes the upload. A new request for an upload replaces a request that still appends, and the connection of the
/// replaced request is closed.
///
/// Requests to the URL of an upload do not pass the router's middleware, so `owner` binds an upload to its client.
/// Received bytes take space from all uploads, from the owner's share and from the source's share (``UploadLimits``).
///
/// Uploads survive the end of the server's process, with one exception: an upload whose handler was running is removed.
/// Uploads are also removed after a restart of the system, since their last bytes may not have reached the disk. Only
/// one process may use a folder at a time.
///
/// The known versions of the draft are 3, 5, 6, 7 and 8. A client that names no version can create an upload with
/// `Upload-Complete: ?0`.
public struct UploadRouter<Base: HTTPResponderBuilder>: HTTPResponderBuilder
where Base.Responder.Context: InterimResponseContext {
    /// Returns the owner of the upload that a request creates or continues.
    public typealias Owner = @Sendable (Request, Base.Responder.Context) async throws -> UploadOwner
    /// Returns the source of a request, or `nil` if the request counts towards no source's share.
    public typealias Source = @Sendable (Request, Base.Responder.Context) -> String?

    private let base: Base
    private let store: UploadStore
    private let path: String
    private let origin: String
    private let owner: Owner
    private let source: Source
    private let storedFields: StoredFields

    /// Creates a router that receives resumable uploads for the routes of `base`.
    ///
    /// - Parameters:
    ///   - base: The app's router.
    ///   - folder: The folder for uploads, accessible only to its user (mode 0700). It is created if its parent folder
    ///     exists.
    ///   - path: The path of upload URLs. The default is `/_uploads`.
    ///   - origin: The scheme and authority that clients see, such as `https://api.example.com`, for absolute upload
    ///     URLs. The default, `nil`, uses relative URLs (RFC 9110 §10.2.2).
    ///   - limits: The limits of uploads.
    ///   - fields: The names of additional header fields of the first request that are stored with an upload and passed
    ///     to the handler. Do not name fields with credentials. The default is empty.
    ///   - now: Returns the time by which uploads expire. The default is the system's clock.
    ///   - clock: Measures the rate of content. The default is the continuous clock.
    ///   - source: Returns the source of a request; the uploads of a source have one share. The default is the remote
    ///     IP address, truncated to its first 56 bits for IPv6. Behind a proxy, this is the proxy's address: return the
    ///     client address that the proxy sends.
    ///   - owner: Returns the owner; called for every request of an upload. Throw an `HTTPError` to refuse a request,
    ///     such as 401 if the login is missing. For uploads of other owners, a client gets 404.
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

    /// Creates the responder. The application calls it once.
    public func buildResponder() -> some HTTPResponder<Base.Responder.Context> {
        UploadResponder(
            base: base.buildResponder(), resource: UploadResource(store: store, path: path, origin: origin),
            owner: owner, source: source, storedFields: storedFields)
    }
}

/// Handles the requests of resumable uploads, and passes all other requests to the router.
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
            // File errors are logged and not disclosed to clients.
            context.logger.error("an upload can't be stored", metadata: ["runway.upload": "\(failure)"])
            return resource.refusal(failure.code == ENOSPC ? .noSpace : .storage, fields)
        }
    }

    private static func isCreation(_ request: Request, _ fields: UploadFields) -> Bool {
        guard [.post, .put, .patch].contains(request.method), let isComplete = fields.isComplete else { return false }
        // For a client without a known version, the draft forbids 104; a complete upload need not be resumed.
        return fields.version != nil || !isComplete
    }
}

/// The owner of an upload, who may continue it.
public struct UploadOwner: Sendable, Hashable {
    /// Anyone who knows the URL of the upload, for example for a transfer by link. Use it only if clients are not
    /// identified: otherwise, an upload would lose its owner when a login expires.
    public static let bearer = UploadOwner(name: nil)

    /// An account that the app has identified. Its uploads are invisible to all other clients, and have their own share
    /// (``UploadLimits``).
    public static func account(_ name: String) -> UploadOwner { UploadOwner(name: name) }

    let name: String?
}
