import HTTPTypes

/// What an answer is kept under: service, environment, account, endpoint, and the request as it was assembled.
///
/// Of the request count its method, its URL with the query, its header fields and its body, as they are before address, token and
/// signature are added: none of these can split a key. All header fields count that the service's common ones and the endpoint give,
/// since any of them may change the answer. The hash is computed once, when the key is made.
public struct CacheKey: Sendable, Hashable {
    /// The environment that the service was in.
    public let environment: ServiceEnvironment
    /// Whose call it was; `nil` where nobody was signed in.
    public let account: String?

    private let serviceType: any APIService.Type
    private let endpointType: any Endpoint.Type
    private let method: HTTPRequest.Method
    private let scheme: String?
    private let authority: String?
    private let target: String
    private let headerFields: HTTPFields
    private let body: [UInt8]
    private let digest: Int

    /// The name of the service.
    public var service: String { serviceType.name }
    /// The name of the endpoint.
    public var endpoint: String { endpointType.name }

    /// The key of a request; `nil` for one whose answers are never kept.
    ///
    /// Those are a request whose answer or own body is a stream, and one of a method that is there to change something: anything but
    /// GET, HEAD, QUERY, and POST, which an API may use to read.
    init?(_ request: Request, in flight: Flight) {
        guard case .whole = request.delivery, request.head.method.mayRead else { return nil }
        switch request.body {
        case .none: body = []
        case .bytes(let bytes): body = bytes
        case .stream: return nil
        }
        serviceType = flight.service
        endpointType = flight.endpoint
        environment = flight.environment
        account = flight.account
        method = request.head.method
        scheme = request.head.scheme
        authority = request.head.authority
        target = request.head.path ?? ""
        headerFields = request.head.headerFields

        // What is left out of the hash rarely tells two keys apart; equality compares it all.
        var hasher = Hasher()
        hasher.combine(ObjectIdentifier(endpointType))
        hasher.combine(target)
        hasher.combine(account)
        if !body.isEmpty { hasher.combine(body) }
        if !headerFields.isEmpty { hasher.combine(headerFields.digest) }
        digest = hasher.finalize()
    }

    /// Whether two keys stand for the same answer.
    public static func == (lhs: CacheKey, rhs: CacheKey) -> Bool {
        lhs.digest == rhs.digest && lhs.endpointType == rhs.endpointType && lhs.serviceType == rhs.serviceType
            && lhs.target == rhs.target && lhs.account == rhs.account && lhs.method == rhs.method
            && lhs.environment == rhs.environment && lhs.authority == rhs.authority && lhs.scheme == rhs.scheme
            && lhs.body == rhs.body
            && (lhs.headerFields.isEmpty ? rhs.headerFields.isEmpty : lhs.headerFields == rhs.headerFields)
    }

    /// Feeds the hash that was computed when the key was made.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// About how many bytes the key itself takes.
    var byteCount: Int {
        target.utf8.count + body.count + headerFields.byteCount + (account?.utf8.count ?? 0)
    }
}

extension CacheKey {
    /// Everything that tells keys apart, as bytes that are the same in every launch of the app. For tiers that outlive the process.
    ///
    /// It holds whatever secrets the request holds. A tier stores a cryptographic digest of it, such as SHA-256, never the bytes.
    public var canonicalForm: [UInt8] {
        var form: [UInt8] = []
        func add(_ bytes: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt64(bytes.count).bigEndian) { form.append(contentsOf: $0) }
            form.append(contentsOf: bytes)
        }
        add(service.utf8)
        add(environment.name.utf8)
        // An account without a name is not the same as none.
        add((account.map { "=\($0)" } ?? "").utf8)
        add(endpoint.utf8)
        add(method.rawValue.utf8)
        add((scheme ?? "").utf8)
        add((authority ?? "").utf8)
        add(target.utf8)
        add(body)
        let fields = headerFields.map { ($0.name.canonicalName, $0.value) }.enumerated()
        // Fields of one name keep their order, which may matter; the order of names never does.
        for (_, field) in fields.sorted(by: { ($0.element.0, $0.offset) < ($1.element.0, $1.offset) }) {
            add(field.0.utf8)
            add(field.1.utf8)
        }
        return form
    }
}

extension CacheKey: CustomStringConvertible {
    /// Service, endpoint, environment and the hash of this launch; nothing of the request, which may hold secrets.
    public var description: String {
        "\(service) \(endpoint) (\(environment)) \(String(UInt(bitPattern: digest), radix: 16))"
    }
}

extension HTTPRequest.Method {
    /// Whether a request of this method may be one that only reads.
    var mayRead: Bool {
        self == .get || self == .head || self == .post || isQuery
    }
}

extension HTTPFields {
    /// A hash that does not depend on the order of the fields.
    fileprivate var digest: Int {
        reduce(0) { digest, field in
            var hasher = Hasher()
            hasher.combine(field.name)
            hasher.combine(field.value)
            return digest ^ hasher.finalize()
        }
    }

    /// The size of the fields as text.
    var byteCount: Int { reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 } }
}
