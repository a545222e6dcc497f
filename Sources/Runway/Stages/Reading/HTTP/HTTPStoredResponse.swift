import HTTPTypes

/// A response stored by the rules of HTTP caching, with all that decides on its use.
struct HTTPStoredResponse: Sendable {
    /// The body of the response.
    enum Content: Sendable {
        case whole(RawData)
        case partial(PartialContent)

        /// A whole body, with its index: calls that find it may land it on the main actor, and the index counts as
        /// stored bytes.
        init(_ rawData: RawData) {
            rawData.index()
            self = .whole(rawData)
        }

        /// A part; a whole body, if nothing is missing.
        init(_ part: PartialContent, response: HTTPResponse) {
            if let bytes = part.whole {
                self.init(RawData(bytes, response: response))
            } else {
                self = .partial(part)
            }
        }

        /// The number of bytes of the body that are stored.
        var byteCount: Int {
            switch self {
            case .whole(let rawData): rawData.bytes.count
            case .partial(let content): content.byteCount
            }
        }

        /// The number of bytes that the index of a JSON body occupies.
        var indexByteCount: Int {
            if case .whole(let rawData) = self { rawData.indexByteCount } else { 0 }
        }
    }

    /// The sequence number of the request.
    var sequenceNumber: UInt64
    let partition: CachePartition
    /// GET, or HEAD if the response can serve only that.
    let method: HTTPRequest.Method
    let requestFields: HTTPFields
    /// Whether the response was received over TLS. Otherwise `immutable` is not trusted, since anyone on the network
    /// path could have written it (RFC 8246 §3).
    let isSecure: Bool
    private(set) var head: HTTPResponse
    var content: Content
    private(set) var times: ExchangeTimes
    let verdict: Verdict
    /// Whether the bytes are the origin's: no content coding was undone.
    let isVerbatim: Bool
    /// Whether the response has to be validated before it is used, whatever its age.
    var isInvalidated = false
    /// Whether the endpoint that brought it stores responses on disk.
    var isOnDisk = false
    /// The kind whose budget the response uses: that of the endpoint that brought it.
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
    ///   - head: The head as received. A missing or invalid `Date` is replaced by the date of receipt (RFC 9110
    ///     §6.6.1).
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
    /// - Parameter requestFields: The fields of the newer one's request, from which the new `Vary` may select others
    ///   than the old.
    func updated(
        by newer: HTTPFields, requestFields: HTTPFields, times: ExchangeTimes, sequenceNumber: UInt64
    ) -> HTTPStoredResponse {
        var head = head
        head.headerFields.update(from: newer)
        // A newer response without a date was made when it was received, and not when the older was.
        if newer[.date] == nil { head.headerFields[.date] = times.receivedDate.text }
        return HTTPStoredResponse(
            head, content,
            to: HTTPRequest(
                method: method, scheme: isSecure ? "https" : nil, authority: nil, path: nil, headerFields: requestFields
            ),
            in: partition, times: times, verdict: verdict, isVerbatim: isVerbatim, sequenceNumber: sequenceNumber)
    }

    /// Returns the age of the response (RFC 9111 §4.2.3).
    func age(at now: Duration) -> Duration { initialAge + max(.zero, now - times.received) }

    /// The entity tag of the response; `nil` if `ETag` is absent or invalid.
    var entityTag: EntityTag? { head.headerFields[.eTag].flatMap { EntityTag($0) } }

    /// The value of the response's `Last-Modified`, as it was sent.
    var lastModified: String? { head.headerFields[.lastModified] }

    /// The validator that names its bytes exactly (RFC 9110 §8.8.1).
    var strongTag: EntityTag? { entityTag.flatMap { $0.isWeak ? nil : $0 } }

    /// The memory that it occupies, roughly.
    var byteCount: Int {
        content.byteCount + content.indexByteCount + head.headerFields.byteCount + requestFields.byteCount + 256
    }

    /// Returns whether this response is newer than another to the same request.
    ///
    /// If both were in flight at the same time, the later `Date` decides, and if they are equal the later request;
    /// otherwise the later request decides.
    func isNewer(than other: HTTPStoredResponse) -> Bool {
        let wereUnderWayAtOnce = times.requested < other.times.received && other.times.requested < times.received
        if wereUnderWayAtOnce, date != other.date { return date > other.date }
        return sequenceNumber > other.sequenceNumber
    }
}
