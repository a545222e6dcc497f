import struct Foundation.URL

/// The values that a manager compares to decide whether a call is identical to the one in flight. Only calls that are
/// sent, or made beside another, have one.
final class CallIdentity: Sendable {
    private let flight: Flight
    private let content: CallContent
    private let body: RequestBody?
    private let file: URL?

    /// - Parameters:
    ///   - body: The body of the request if it comes from ``Endpoint/content``; otherwise `nil`, the default.
    ///   - file: The file that the call writes; `nil`, the default, if it writes no file.
    init(_ content: CallContent, in flight: Flight, sending body: RequestBody? = nil, writing file: URL? = nil) {
        self.flight = flight
        self.content = content
        self.body = body
        self.file = file
    }

    /// Returns whether this call can use the result of a call in flight of the same endpoint.
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
        return content.endpoint.sendsSameParts(as: running.content.endpoint)
    }
}

extension Flight {
    /// The options that must be equal: all except the use of stored responses. Priorities must be equal because a more
    /// urgent call must not wait for a less urgent one.
    fileprivate var comparedOptions: CallOptions {
        var options = options
        options.cache = cachePolicy
        options.retry = retryPolicy
        options.priority = options.priority ?? endpoint.priority
        options.authorization = authorization
        options.cacheUse = .standard
        // The header fields are compared separately, together with the parameters.
        options.headers = [:]
        options.resumption = nil
        // This option need not be equal: if this call bypasses open circuits and joins the call in flight, that call
        // also bypasses them.
        options.bypassesCircuit = false
        return options
    }

    /// The call's use of stored responses. If the endpoint stores no responses, every call requires a fresh response.
    fileprivate var effectiveCacheUse: CacheUse {
        cachePolicy.rule == .none && options.cacheUse == .refresh ? .standard : options.cacheUse
    }
}

extension CallContent {
    /// Bytes that represent path, parameters and header fields. They are equal exactly if all three are equal.
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
    /// Returns whether both calls send the same form parts. A form with a file never equals another form, because the
    /// file may have changed since the call in flight sent it.
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
    /// Returns whether both bodies are the same bytes in memory, or the same file without changes between the two
    /// calls. Other streams are never identical.
    fileprivate func isIdentical(to other: RequestBody) -> Bool {
        guard case .stream(let stream, let byteCount, _) = self, case .stream(let otherStream, byteCount, _) = other,
            let file = stream.filePart, let otherFile = otherStream.filePart
        else { return hasSameBytes(as: other) }
        return (file.path, file.modified, file.number) == (otherFile.path, otherFile.modified, otherFile.number)
    }

    fileprivate func hasSameBytes(as other: RequestBody) -> Bool {
        switch (self, other) {
        case (.none, .none): true
        case (.bytes(let bytes), .bytes(let others)): bytes == others
        default: false
        }
    }
}
