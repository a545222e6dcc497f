import HTTPTypes

/// What an answer is kept under: service, environment, account, endpoint, and what the endpoint says of the call.
///
/// Of what it says count its path, its parameters and its header fields, those common to the service among them, and the service's base
/// URL. Where a stage of the app's own stands above the cache, and for requests that no endpoint describes, it is the request instead, as
/// it was assembled: its method, its URL with the query, its header fields and its body. Address, token and signature are added later:
/// none of these can split a key. The hash is computed once, when the key is made.
public struct CacheKey: Sendable, Hashable {
    /// What tells the calls of one API, service, environment and account apart.
    private enum Subject: Sendable, Hashable {
        /// What the endpoint says, of which the request is made where it has to fly.
        case content(CallContent)
        /// The request itself.
        case request(HTTPRequest, body: [UInt8])
    }

    private let owner: ServiceIdentity
    private let endpointType: any Endpoint.Type
    private let subject: Subject
    private let digest: Int

    /// The environment that the service was in.
    public var environment: ServiceEnvironment { owner.environment }
    /// Whose call it was; `nil` where nobody was signed in.
    public var account: String? { owner.account }
    /// The name of the service.
    public var service: String { owner.service.name }
    /// The name of the endpoint.
    public var endpoint: String { endpointType.name }

    /// The key of a request; `nil` for one whose answers are never kept.
    ///
    /// Those are a request whose answer or own body is a stream, and one of a method that is there to change something: anything but
    /// GET, HEAD, QUERY, and POST, which an API may use to read.
    init?(_ request: Request, in flight: Flight) {
        guard case .whole = request.delivery, request.head.method.mayRead else { return nil }
        if let known = flight.key {
            self = known
            return
        }
        let body: [UInt8]
        switch request.body {
        case .none: body = []
        case .bytes(let bytes): body = bytes
        case .stream: return nil
        }
        self.init(.request(request.head, body: body), in: flight)
    }

    /// The key of a call whose request is not made yet; `nil` where its answers are never kept, or where the content does not say all that
    /// its request says.
    init?<E: Endpoint>(_ content: CallContent, of endpoint: E.Type, in flight: Flight) {
        guard E.method.mayRead else { return nil }
        switch E.encoding {
        case .raw, .multipart: return nil
        case .query, .form, .json: self.init(.content(content), in: flight)
        }
    }

    private init(_ subject: Subject, in flight: Flight) {
        owner = flight.configuration.identity
        endpointType = flight.endpoint
        self.subject = subject
        var hasher = Hasher()
        hasher.combine(ObjectIdentifier(endpointType))
        hasher.combine(owner)
        hasher.combine(subject)
        digest = hasher.finalize()
    }

    /// Whether two keys stand for the same answer.
    public static func == (lhs: CacheKey, rhs: CacheKey) -> Bool {
        lhs.digest == rhs.digest && lhs.endpointType == rhs.endpointType && lhs.owner == rhs.owner
            && lhs.subject == rhs.subject
    }

    /// Feeds the hash that was computed when the key was made.
    public func hash(into hasher: inout Hasher) { hasher.combine(digest) }

    /// About how many bytes the key itself takes.
    var byteCount: Int {
        switch subject {
        case .content(let content): content.byteCount
        case .request(let head, let body): (head.path ?? "").utf8.count + body.count + head.headerFields.byteCount
        }
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
        func add(_ fields: [(name: String, value: String)]) {
            // Fields of one name keep their order, which may matter; the order of names never does.
            let sorted = fields.enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }
            for (_, field) in sorted {
                add(field.name.utf8)
                add(field.value.utf8)
            }
        }
        add(service.utf8)
        add(environment.name.utf8)
        // An account without a name is not the same as none.
        add((account.map { "=\($0)" } ?? "").utf8)
        add(endpoint.utf8)
        switch subject {
        case .content(let content):
            add(endpointType.method.rawValue.utf8)
            add(owner.scheme.utf8)
            add(owner.authority.utf8)
            add("\(owner.pathPrefix)/\(content.path.percentEncoded)".utf8)
            let parameters = content.parameters.merging(defaults: owner.commonParameters)
            add(ParameterValue.object(parameters).canonicalBytes)
            let headers = owner.commonHeaders.merging(content.headers) { $1 }
            add(headers.map { (name: $0.key.lowercased(), value: $0.value) })
        case .request(let head, let body):
            add(head.method.rawValue.utf8)
            add((head.scheme ?? "").utf8)
            add((head.authority ?? "").utf8)
            add((head.path ?? "").utf8)
            add(body)
            add(head.headerFields.map { (name: $0.name.canonicalName, value: $0.value) })
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
    /// The size of the fields as text.
    var byteCount: Int { reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 4 } }
}
