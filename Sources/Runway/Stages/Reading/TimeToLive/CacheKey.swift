import Foundation
import HTTPTypes

/// Identifies a stored response: service, environment, account, endpoint, and the content of the call.
///
/// The parts of the endpoint in the key are its method, path, parameters with their encoding, and header fields; the
/// parts of the service are its base URL, and the parameters and header fields common to all calls, except
/// ``APIService/unkeyedParameters``. If these do not determine the request, if a stage of the app's own is above the
/// cache, and for requests that no endpoint describes, the key includes the assembled request instead: method, URL with
/// the query, header fields and body.
///
/// Address, token and signature are added later: none of these is part of a key. The hash is computed once, when the
/// key is created.
struct CacheKey: Sendable, Hashable {
    private let owner: ServiceIdentity
    let endpointType: any Endpoint.Type
    /// The bytes that distinguish the calls of one API, service, environment and account.
    private let form: [UInt8]
    /// ``Flight/cookieVersion``, which has no meaning in another launch of the app.
    private let cookieVersion: UInt64
    private let digest: Int

    /// The environment that the service was in.
    var environment: ServiceEnvironment { owner.environment }
    /// The account of the call; `nil` if no account was signed in.
    var account: String? { owner.account }
    /// The name of the service.
    var service: String { owner.service.name }
    /// The name of the endpoint.
    var endpoint: String { endpointType.name }
    /// The kind whose budget the response uses.
    var kind: CacheKind { endpointType.cacheKind }

    /// The key of a request; `nil` if its responses are never stored.
    ///
    /// The responses to two kinds of requests are never stored: to requests that are streamed or whose response is, and
    /// to requests of a method that changes something. The latter are all methods but GET, HEAD, QUERY, and POST, which
    /// an API may use to read.
    init?(_ request: Request, in flight: Flight) {
        guard case .whole = request.delivery, request.head.method.mayRead else { return nil }
        if request.isAsAssembled, let known = flight.key {
            self = known
            return
        }
        let body: [UInt8]
        switch request.body {
        case .none: body = []
        case .bytes(let bytes): body = bytes
        case .stream: return nil
        }
        var form = CanonicalForm()
        form.add(request.head.method.rawValue)
        form.add(request.head.scheme ?? "")
        form.add(request.head.authority ?? "")
        form.add(request.head.path ?? "")
        form.add(request.head.headerFields)
        form.add(body)
        self.init(form, of: flight.configuration.requestIdentity, in: flight)
    }

    /// The key of a call whose request is not made yet; `nil` if its responses are never stored, if its path can't be
    /// sent, or if the content does not determine the request.
    init?<E: Endpoint>(_ content: CallContent, of endpoint: E.Type, in flight: Flight) {
        let method = E.method
        guard method.mayRead, content.path.problem == nil else { return nil }
        var form = CanonicalForm()
        // No request has an empty method: a response stored under one is never found by this.
        form.add("")
        form.add(method.rawValue)
        switch E.encoding {
        case .raw, .multipart: return nil
        // Names that are joined by dots may become equal, and then the order of the parameters counts.
        case .query(let style) where style.writesDots, .form(let style) where style.writesDots: return nil
        case .query(let style):
            form.add("query")
            form.add(style)
        case .form(let style):
            form.add("form")
            form.add(style)
        case .json(let dates):
            form.add("json")
            form.add(dates)
        }
        form.add(content.path.percentEncoded)
        form.add(content.parameters)
        let common = content.keyedCommon
        // The fields are there whenever the common parameters are, so that neither can be taken for the other.
        if !content.headers.isEmpty || !common.isEmpty { form.add(content.headers) }
        if !common.isEmpty { form.add(common) }
        self.init(form, of: flight.configuration.callIdentity, in: flight)
    }

    private init(_ form: CanonicalForm, of owner: ServiceIdentity, in flight: Flight) {
        var form = form
        // Whether calls of the endpoint carry the token follows from the endpoint, unless the call differs.
        if flight.authorization != flight.endpoint.authorization { form.add("\(flight.authorization)") }
        self.owner = owner
        endpointType = flight.endpoint
        self.form = form.bytes
        cookieVersion = flight.cookieVersion
        var hasher = Hasher()
        hasher.combine(owner.digest)
        hasher.combine(ObjectIdentifier(endpointType))
        form.bytes.withUnsafeBytes { hasher.combine(bytes: $0) }
        hasher.combine(cookieVersion)
        digest = hasher.finalize()
    }

    /// Returns whether two keys identify the same response.
    static func == (lhs: CacheKey, rhs: CacheKey) -> Bool {
        lhs.digest == rhs.digest && lhs.endpointType == rhs.endpointType && lhs.owner == rhs.owner
            && lhs.form.hasSameBytes(as: rhs.form) && lhs.cookieVersion == rhs.cookieVersion
    }

    /// Whether the key stands for the same response in other launches of the app, so that a tier may store it.
    var isPersistable: Bool { cookieVersion == 0 }

    /// Feeds the hash that was computed when the key was created.
    func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// About how many bytes the key itself occupies.
    var byteCount: Int { form.count }
}

extension CacheKey {
    /// Everything that distinguishes keys, as bytes that are the same in every launch of the app; see ``CacheTierKey``.
    var canonicalForm: [UInt8] {
        var whole = CanonicalForm()
        // No service has an empty form; the canonical forms of targets begin with one.
        whole.add(owner.form)
        whole.add(endpoint)
        whole.add(form)
        return whole.bytes
    }
}

extension CacheKey: CustomStringConvertible {
    /// Service, endpoint, environment and the hash of this launch; nothing of the request, which may contain secrets.
    var description: String {
        "\(service) \(endpoint) (\(environment)) \(String(UInt(bitPattern: digest), radix: 16))"
    }
}

extension [UInt8] {
    /// Compares all bytes at once: `==` of arrays compares them one by one, and every hit compares a key.
    fileprivate func hasSameBytes(as other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { own in
            other.withUnsafeBytes { other in
                guard let first = own.baseAddress, let second = other.baseAddress else { return true }
                return memcmp(first, second, own.count) == 0
            }
        }
    }
}

extension HTTPRequest.Method {
    /// Whether a request of this method may be one that only reads.
    var mayRead: Bool {
        self == .get || self == .head || self == .post || isQuery
    }
}

extension HTTPFields {
    /// The size of the fields as text.
    var byteCount: Int { reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 } }
}
