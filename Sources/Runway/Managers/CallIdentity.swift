import struct Foundation.URL

/// What a manager compares to decide whether a call is identical to the one in flight.
struct CallIdentity {
    private let flight: Flight
    private let endpoint: any Endpoint
    private let content: CallContent
    private let file: URL?

    /// - Parameter file: The file that the call writes; `nil` if it writes none.
    init(_ endpoint: any Endpoint, _ content: CallContent, in flight: Flight, writing file: URL? = nil) {
        self.flight = flight
        self.endpoint = endpoint
        self.content = content
        self.file = file
    }

    /// Whether the result of a call in flight of the same endpoint is what this call asks for.
    func isServed(by running: CallIdentity) -> Bool {
        guard flight.session == running.flight.session, file == running.file,
            flight.configuration.callIdentity == running.flight.configuration.callIdentity,
            flight.comparedOptions == running.flight.comparedOptions
        else { return false }
        let (use, runningUse) = (flight.effectiveCacheUse, running.flight.effectiveCacheUse)
        guard use == runningUse || (use == .standard && runningUse == .refresh) else { return false }
        return content.canonicalForm == running.content.canonicalForm && endpoint.sendsSameBody(as: running.endpoint)
    }
}

extension Flight {
    /// What the call asks for beside its use of stored responses. Priorities do not change a response, but a call that is more urgent
    /// must not wait for one that is less so.
    fileprivate var comparedOptions: CallOptions {
        var options = options
        options.cache = cachePolicy
        options.retry = retryPolicy
        options.priority = options.priority ?? endpoint.priority
        options.cacheUse = .standard
        // They are part of the content.
        options.headers = [:]
        options.resumption = nil
        // The call in flight goes past open circuits, too, as soon as such a call has joined it.
        options.bypassesCircuit = false
        return options
    }

    /// The call's use of stored responses. If none is stored, every response is a fresh one.
    fileprivate var effectiveCacheUse: CacheUse {
        cachePolicy.rule == .none && options.cacheUse == .refresh ? .standard : options.cacheUse
    }
}

extension CallContent {
    /// Bytes that are equal if and only if path, parameters and header fields are.
    fileprivate var canonicalForm: [UInt8] {
        var form = CanonicalForm()
        form.add(path.percentEncoded)
        form.add(parameters)
        form.add(headers)
        form.add(keyedCommon)
        return form.bytes
    }
}

extension Endpoint {
    /// Whether the call sends the same body as another, beside the encoded parameters.
    fileprivate func sendsSameBody(as other: any Endpoint) -> Bool {
        switch Self.encoding {
        case .query, .form, .json: return true
        case .raw:
            guard let body = try? content, let otherBody = try? other.content else { return false }
            return body.isIdentical(to: otherBody)
        case .multipart:
            guard let parts = try? parts, let others = try? other.parts else { return false }
            return parts.elementsEqual(others) { $0.isEqual(to: $1) }
        }
    }
}

extension FormPart {
    fileprivate func isEqual(to other: FormPart) -> Bool {
        name == other.name && fileName == other.fileName && contentType == other.contentType
            && body.isIdentical(to: other.body)
    }
}

extension RequestBody {
    /// Whether both are the same bytes. A stream equals none.
    fileprivate func isIdentical(to other: RequestBody) -> Bool {
        switch (self, other) {
        case (.none, .none): true
        case (.bytes(let bytes), .bytes(let others)): bytes == others
        default: false
        }
    }
}
