import struct Foundation.URL

/// The values that a manager compares to decide whether a call is identical to the one in flight.
struct CallIdentity {
    private let flight: Flight
    private let endpoint: any Endpoint
    private let content: CallContent
    private let body: RequestBody?
    private let file: URL?

    /// - Parameters:
    ///   - body: The body of the request, if it is ``Endpoint/content``; otherwise `nil`, the default.
    ///   - file: The file that the call writes; `nil`, the default, if it writes none.
    init(
        _ endpoint: any Endpoint, _ content: CallContent, in flight: Flight, sending body: RequestBody? = nil,
        writing file: URL? = nil
    ) {
        self.flight = flight
        self.endpoint = endpoint
        self.content = content
        self.body = body
        self.file = file
    }

    /// Returns whether the result of a call in flight, of the same endpoint, satisfies this call.
    func isServed(by running: CallIdentity) -> Bool {
        guard flight.session == running.flight.session, file == running.file,
            flight.configuration.callIdentity == running.flight.configuration.callIdentity,
            flight.comparedOptions == running.flight.comparedOptions
        else { return false }
        let (use, runningUse) = (flight.effectiveCacheUse, running.flight.effectiveCacheUse)
        guard use == runningUse || (use == .standard && runningUse == .refresh) else { return false }
        return content.canonicalForm == running.content.canonicalForm && sendsSameBody(as: running)
    }

    /// Returns whether both calls send the same body, apart from the encoded parameters.
    private func sendsSameBody(as running: CallIdentity) -> Bool {
        if let body, let runningBody = running.body { return body.isIdentical(to: runningBody) }
        return endpoint.sendsSameParts(as: running.endpoint)
    }
}

extension Flight {
    /// The options that are compared: all except the use of stored responses. Priorities do not change a response, but
    /// a more urgent call must not wait for a less urgent one.
    fileprivate var comparedOptions: CallOptions {
        var options = options
        options.cache = cachePolicy
        options.retry = retryPolicy
        options.priority = options.priority ?? endpoint.priority
        options.authorization = authorization
        options.cacheUse = .standard
        // They are part of the content.
        options.headers = [:]
        options.resumption = nil
        // The call in flight bypasses open circuits, too, as soon as such a call has joined it.
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
    /// Whether the call sends the same parts of a form as another. A form with a file equals none: the parts of the
    /// call in flight are read here, and its file may have changed since they were sent.
    fileprivate func sendsSameParts(as other: any Endpoint) -> Bool {
        guard case .multipart = Self.encoding else { return true }
        guard let parts = try? parts, let others = try? other.parts else { return false }
        return parts.elementsEqual(others) { $0.isEqual(to: $1) }
    }
}

extension FormPart {
    fileprivate func isEqual(to other: FormPart) -> Bool {
        name == other.name && fileName == other.fileName && contentType == other.contentType
            && body.hasSameBytes(as: other.body)
    }
}

extension RequestBody {
    /// Whether both are the same bytes in memory, or the same file, which did not change between the two calls. Any
    /// other stream equals none.
    fileprivate func isIdentical(to other: RequestBody) -> Bool {
        guard case .stream(let stream, let byteCount, _) = self, case .stream(let otherStream, byteCount, _) = other,
            let file = stream.filePart, let otherFile = otherStream.filePart
        else { return hasSameBytes(as: other) }
        return (file.path, file.modified, file.number) == (otherFile.path, otherFile.modified, otherFile.number)
    }

    /// Whether both are the same bytes in memory.
    fileprivate func hasSameBytes(as other: RequestBody) -> Bool {
        switch (self, other) {
        case (.none, .none): true
        case (.bytes(let bytes), .bytes(let others)): bytes == others
        default: false
        }
    }
}
