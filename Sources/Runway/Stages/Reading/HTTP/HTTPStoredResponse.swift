import HTTPTypes

/// A response stored by the rules of HTTP caching, with all data that determine how it may be used.
struct HTTPStoredResponse: Sendable {
    enum Content: Sendable {
        case whole(RawData)
        case partial(PartialContent)

        /// Creates the content from a whole body. JSON is indexed now, because calls may deliver the body on the main
        /// actor, and because the index counts as stored bytes.
        init(_ rawData: RawData) {
            rawData.index()
            self = .whole(rawData)
        }

        /// Creates the content from a part of a body. If nothing is missing, the content is a whole body.
        init(_ part: PartialContent, response: HTTPResponse) {
            if let bytes = part.whole {
                self.init(RawData(bytes, response: response))
            } else {
                self = .partial(part)
            }
        }

        /// The number of stored bytes of the body.
        var byteCount: Int {
            switch self {
            case .whole(let rawData): rawData.bytes.count
            case .partial(let content): content.byteCount
            }
        }

        /// The size of a JSON body's index in bytes.
        var indexByteCount: Int {
            if case .whole(let rawData) = self { rawData.indexByteCount } else { 0 }
        }
    }

    var sequenceNumber: UInt64
    let partition: CachePartition
    /// The method that the response can be used for: GET, which includes HEAD, or only HEAD.
    let method: HTTPRequest.Method
    let requestFields: HTTPFields
    /// Whether the response was received over TLS. Otherwise `immutable` is ignored, because anyone on the network path
    /// could have written it (RFC 8246 §3).
    let isSecure: Bool
    private(set) var head: HTTPResponse
    var content: Content
    private(set) var times: ExchangeTimes
    let verdict: Verdict
    /// Whether the bytes are exactly those that the origin sent, because no content coding was removed.
    let isVerbatim: Bool
    /// Whether the response must be validated before it is used, even while it is fresh.
    var isInvalidated = false
    /// Whether the response may be stored on disk, according to the endpoint whose call fetched it.
    var isOnDisk = false
    /// The kind whose budget the response uses. It is the kind of the endpoint whose call fetched it.
    var kind = CacheKind.standard

    private(set) var directives: ResponseDirectives
    var vary: VarySelection
    private(set) var lifetime: Duration
    private(set) var isHeuristic: Bool
    private(set) var date: HTTPDate
    private var initialAge: Duration

    /// Creates a stored response.
    ///
    /// - Parameters:
    ///   - head: The status and header fields as received. A missing or invalid `Date` is replaced by the date of
    ///     receipt (RFC 9110 §6.6.1).
    ///   - sequenceNumber: The number of its request.
    init(
        _ head: HTTPResponse, _ content: Content, to request: HTTPRequest, in partition: CachePartition,
        times: ExchangeTimes, verdict: Verdict, isVerbatim: Bool, sequenceNumber: UInt64
    ) {
        self.sequenceNumber = sequenceNumber
        self.partition = partition
        method = request.method
        requestFields = request.headerFields
        isSecure = request.scheme?.lowercased() == "https"
        self.content = content
        self.times = times
        self.verdict = verdict
        self.isVerbatim = isVerbatim
        var head = head
        let received = times.receivedDate
        let date = head.headerFields[.date].flatMap { HTTPDate($0, now: received) }
        if date == nil { head.headerFields[.date] = received.text }
        self.date = date ?? received
        directives = ResponseDirectives(head.headerFields)
        if !isSecure { directives.isImmutable = false }
        head.headerFields = head.headerFields.storable(without: directives.noCacheFields)
        self.head = head
        vary = VarySelection(head.headerFields, request: request.headerFields)
        (lifetime, isHeuristic) = HTTPFreshness.lifetime(of: head, directives, received: received)
        initialAge = HTTPFreshness.initialAge(
            head.headerFields, delay: times.received - times.requested, received: received)
    }

    /// Returns this response after a newer one confirmed its content (RFC 9111 §3.2).
    ///
    /// - Parameter requestFields: The header fields of the newer response's request. The new `Vary` may select other
    ///   fields than the old one.
    func updated(
        by newer: HTTPFields, requestFields: HTTPFields, times: ExchangeTimes, sequenceNumber: UInt64
    ) -> HTTPStoredResponse {
        var head = head
        head.headerFields.update(from: newer)
        // A newer response without a date gets the date of its receipt, not the date of the older response.
        if newer[.date] == nil { head.headerFields[.date] = times.receivedDate.text }
        return HTTPStoredResponse(
            head, content,
            to: HTTPRequest(
                method: method, scheme: isSecure ? "https" : nil, authority: nil, path: nil, headerFields: requestFields
            ),
            in: partition, times: times, verdict: verdict, isVerbatim: isVerbatim, sequenceNumber: sequenceNumber)
    }

    func age(at now: Duration) -> Duration { initialAge + max(.zero, now - times.received) }

    /// The entity tag of the response; `nil` if `ETag` is absent or invalid.
    var entityTag: EntityTag? { head.headerFields[.eTag].flatMap { EntityTag($0) } }

    var lastModified: String? { head.headerFields[.lastModified] }

    /// The entity tag if it is strong, so that it identifies the exact bytes (RFC 9110 §8.8.1); otherwise `nil`.
    var strongTag: EntityTag? { entityTag.flatMap { $0.isWeak ? nil : $0 } }

    /// The approximate memory that the response occupies, in bytes.
    var byteCount: Int {
        content.byteCount + content.indexByteCount + head.headerFields.byteCount + requestFields.byteCount + 256
    }

    /// Returns whether this response is newer than another response to the same request.
    ///
    /// If both requests were in flight at the same time, the later `Date` decides, and with equal dates the later
    /// request. If one request ended before the other began, the later request decides.
    func isNewer(than other: HTTPStoredResponse) -> Bool {
        let wereUnderWayAtOnce = times.requested < other.times.received && other.times.requested < times.received
        if wereUnderWayAtOnce, date != other.date { return date > other.date }
        return sequenceNumber > other.sequenceNumber
    }
}
