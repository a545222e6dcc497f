import Foundation
import HTTPTypes

/// Identifies a stored response by service, environment, account, endpoint, and the content of the call.
///
/// The content consists of the endpoint's method, path, encoded parameters and header fields, and of the service's base
/// URL, common parameters and common header fields. ``APIService/unkeyedParameters`` are left out. In three cases the
/// key contains the created request instead (method, URL with query, header fields and body): the content does not
/// determine the request, an app's stage comes before the cache, or the request has no endpoint.
///
/// Routing, token and signature are added later and are not part of the key. The hash is computed once, when the key is
/// created.
struct CacheKey: Sendable, Hashable {
    private let owner: ServiceIdentity
    let endpointType: any Endpoint.Type
    /// The bytes that distinguish calls of the same endpoint, service, environment and account.
    private let form: [UInt8]
    /// The version of the sender's cookies, ``Flight/cookieVersion``. It has no meaning in another launch of the app.
    private let cookieVersion: UInt64
    private let digest: Int

    var environment: ServiceEnvironment { owner.environment }
    /// The account of the call; `nil` if no account was signed in.
    var account: String? { owner.account }
    var service: String { owner.service.name }
    var endpoint: String { endpointType.name }
    var kind: CacheKind { endpointType.cacheKind }

    /// Creates the key of a request. Returns `nil` if its responses are never stored.
    ///
    /// Responses are not stored if the request or its response is streamed, or if the method may change data. Methods
    /// that only read are GET, HEAD and QUERY, and POST if the API uses it to read.
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

    /// Creates the key of a call before its request is created. Returns `nil` if its responses are never stored, if its
    /// path can't be sent, or if the content does not determine the request.
    init?<E: Endpoint>(_ content: CallContent, of endpoint: E.Type, in flight: Flight) {
        let method = E.method
        guard method.mayRead, content.path.problem == nil else { return nil }
        var form = CanonicalForm()
        // The empty text stands where keys of complete requests have their method. So the two kinds of keys are never
        // equal.
        form.add("")
        form.add(method.rawValue)
        switch E.encoding {
        case .raw, .multipart: return nil
        // With dots, two different names may result in the same text. Then the order of the parameters matters.
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
        // If there are common parameters, header fields are added even if the call has none. Otherwise common
        // parameters could be mistaken for header fields.
        if !content.headers.isEmpty || !common.isEmpty { form.add(content.headers) }
        if !common.isEmpty { form.add(common) }
        self.init(form, of: flight.configuration.callIdentity, in: flight)
    }

    private init(_ form: CanonicalForm, of owner: ServiceIdentity, in flight: Flight) {
        var form = form
        // Usually the endpoint determines whether calls carry the token. The policy is added only if this call
        // overrides it.
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

    static func == (lhs: CacheKey, rhs: CacheKey) -> Bool {
        lhs.digest == rhs.digest && lhs.endpointType == rhs.endpointType && lhs.owner == rhs.owner
            && lhs.form.hasSameBytes(as: rhs.form) && lhs.cookieVersion == rhs.cookieVersion
    }

    /// Whether the key identifies the same response in other launches of the app, so that the disk tier may store it.
    var isPersistable: Bool { cookieVersion == 0 }

    /// Uses the hash that was computed when the key was created.
    func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// The approximate memory that the key occupies, in bytes.
    var byteCount: Int { form.count }
}

extension CacheKey {
    /// Bytes in which the keys of different responses differ. They are the same in every launch of the app; see
    /// ``CacheTierKey``.
    var canonicalForm: [UInt8] {
        var whole = CanonicalForm()
        // Canonical forms of targets begin with an empty text, and the form of a service is never empty. So the two are
        // never equal.
        whole.add(owner.form)
        whole.add(endpoint)
        whole.add(form)
        return whole.bytes
    }
}

extension CacheKey: CustomStringConvertible {
    /// The service, endpoint, environment and hash. It contains nothing of the request, which may contain secrets.
    var description: String {
        "\(service) \(endpoint) (\(environment)) \(String(UInt(bitPattern: digest), radix: 16))"
    }
}

extension [UInt8] {
    /// Compares all bytes at once, because every cache hit compares a key. The `==` of arrays is slower: it compares
    /// the bytes one by one.
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
    /// Whether a request with this method may be a read, which changes no data.
    var mayRead: Bool {
        self == .get || self == .head || self == .post || isQuery
    }
}

extension HTTPFields {
    var byteCount: Int { reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 } }
}
