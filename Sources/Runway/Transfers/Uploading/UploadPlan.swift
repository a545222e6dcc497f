import HTTPTypes
import RunwayFormats

/// Decides the next request of a resumable upload, and how each response is used. It is a state machine without I/O.
struct UploadPlan: Sendable {
    /// An attempt that sends at least this many new bytes (256 KiB) does not count toward the maximum number of
    /// attempts. Bytes are new if the server never had as many bytes before.
    static let stepByteCount = 256 << 10
    /// The maximum number of times that the upload starts over because the server no longer has it.
    static let maximumFreshStarts = 2

    let byteCount: Int
    /// Whether the whole request may be sent again even if it may have taken effect.
    let isRepeatable: Bool

    /// The URL of the upload on the server; `nil` while it is unknown.
    private(set) var location: String?
    /// The number of bytes that the server is known to have.
    private(set) var offset = 0
    /// Whether the offset must be retrieved before bytes are appended.
    private var isOffsetUnknown = false
    /// The maximum number of bytes that the server accepts in one request; `nil` if unknown.
    private var maximumAppendByteCount: Int?
    /// The maximum number of bytes that the server accepts in total; `nil` if unknown.
    private var maximumByteCount: Int?
    /// The number of bytes on the server after the last attempt that did not count because of ``stepByteCount``.
    private var mark = 0
    /// The number of bytes that the server has, according to its reports during a request.
    private var reported = 0
    private var freshStarts = 0
    /// Whether all bytes were passed to the transport, so that the upload may have taken effect.
    private(set) var mayHaveEffect: Bool

    init(byteCount: Int, isRepeatable: Bool, location: String? = nil, mayHaveEffect: Bool = false) {
        self.byteCount = byteCount
        self.isRepeatable = isRepeatable
        self.location = location
        self.mayHaveEffect = mayHaveEffect
        isOffsetUnknown = location != nil
    }

    enum Step: Sendable, Equatable {
        /// The request of the endpoint, with all bytes of the file or only the first ones.
        case create(upTo: Int)
        /// `HEAD`, which asks for the offset.
        case retrieve
        /// `PATCH`, which appends bytes.
        case append(Range<Int>)

        var bytes: Range<Int> {
            switch self {
            case .create(let end): 0..<end
            case .retrieve: 0..<0
            case .append(let bytes): bytes
            }
        }
    }

    /// The reason why the server does not accept an upload of this size; `nil` if the size is accepted or no limit is
    /// known.
    var refusalOfSize: String? {
        guard let maximumByteCount, byteCount > maximumByteCount else { return nil }
        return "The server takes uploads of at most \(maximumByteCount) bytes, and the file has \(byteCount)."
    }

    var step: Step {
        guard location != nil else { return .create(upTo: min(byteCount, maximumAppendByteCount ?? .max)) }
        if isOffsetUnknown { return .retrieve }
        // Comparing the rest avoids an overflow: a server may state a limit up to `Int.max`.
        let rest = byteCount - offset
        return .append(offset..<offset + min(rest, maximumAppendByteCount ?? rest))
    }

    /// The next step of an upload after a request.
    enum Action: Sendable, Equatable {
        case proceed
        /// Send the next request after a wait, if another attempt is allowed.
        case wait
        /// Start over, because the server no longer has the upload.
        case startOver
        /// Return the response as the response of the call.
        case land
        /// The upload is complete, but its response was lost.
        case landWithoutResponse
        /// Fail with the error, or with the response.
        case fail
        /// Cancel the upload on the server, and fail for this reason.
        case contradict(String)
    }

    /// Processes an interim response.
    ///
    /// - Parameter location: The URL of the upload; `nil` if the response has no usable one.
    mutating func take(interim fields: UploadFields, location: String?) {
        takeLimit(fields)
        if let offset = fields.offset, offset <= byteCount { reported = max(reported, offset) }
        guard self.location == nil, let location else { return }
        self.location = location
        isOffsetUnknown = true
    }

    /// Records that all bytes before `offset` are passed to the transport.
    mutating func pass(upTo offset: Int) {
        if offset == byteCount { mayHaveEffect = true }
    }

    /// Records that a request ended without a response. Another request follows after a wait.
    mutating func takeFailure() { isOffsetUnknown = location != nil }

    mutating func take(
        _ status: HTTPResponse.Status, _ fields: UploadFields, location: String?, to step: Step
    ) -> Action {
        switch step {
        case .create(let end): return takeCreation(status, fields, location: location, upTo: end)
        case .retrieve: return takeState(status, fields)
        case .append(let bytes): return takeAppended(status, fields, bytes)
        }
    }

    private mutating func takeCreation(
        _ status: HTTPResponse.Status, _ fields: UploadFields, location: String?, upTo end: Int
    ) -> Action {
        takeLimit(fields)
        if fields.isComplete == true { return .land }
        if status == .contentTooLarge, end == byteCount, isLimited(to: end) {
            self.location = nil
            return .proceed
        }
        if status.kind == .successful, end < byteCount || fields.isComplete == false {
            guard let location = self.location ?? location else {
                return .contradict("The server accepted a part of the upload without saying where it continues.")
            }
            self.location = location
            return continued(at: fields.offset ?? end)
        }
        guard status.mayBeAcceptedLater, self.location != nil else { return .land }
        isOffsetUnknown = true
        return .wait
    }

    private mutating func takeState(_ status: HTTPResponse.Status, _ fields: UploadFields) -> Action {
        takeLimit(fields)
        guard status.kind == .successful else { return takeRefusal(status) }
        if fields.isComplete != true, let refusalOfSize { return .contradict(refusalOfSize) }
        if let length = fields.length, length != byteCount {
            return .contradict("The server has an upload of \(length) bytes, and the file has \(byteCount).")
        }
        if fields.isComplete == true, fields.offset ?? byteCount == byteCount { return .landWithoutResponse }
        guard let offset = fields.offset else {
            return .contradict("The server does not say how much of the upload it has.")
        }
        return continued(at: offset)
    }

    private mutating func takeAppended(
        _ status: HTTPResponse.Status, _ fields: UploadFields, _ bytes: Range<Int>
    ) -> Action {
        let former = maximumAppendByteCount
        takeLimit(fields)
        if fields.isComplete == true { return .land }
        switch status {
        case .conflict:
            isOffsetUnknown = true
            return .wait
        case .contentTooLarge:
            isOffsetUnknown = true
            return isLimited(to: bytes.count) && former != maximumAppendByteCount ? .proceed : .fail
        case _ where status.kind == .successful:
            if bytes.upperBound < byteCount {
                let action = continued(at: fields.offset ?? bytes.upperBound)
                // Without this wait, a server that accepts parts but does not store them would receive parts without
                // end.
                return action == .proceed && offset == bytes.lowerBound ? .wait : action
            }
            if fields.isComplete == nil { return .land }
            isOffsetUnknown = true
            return .wait
        default: return takeRefusal(status)
        }
    }

    private mutating func takeRefusal(_ status: HTTPResponse.Status) -> Action {
        if status.mayBeAcceptedLater {
            isOffsetUnknown = true
            return .wait
        }
        guard [.notFound, .gone].contains(status) else { return .fail }
        freshStarts += 1
        guard freshStarts <= Self.maximumFreshStarts, isRepeatable || !mayHaveEffect else { return .fail }
        location = nil
        offset = 0
        isOffsetUnknown = false
        return .startOver
    }

    private mutating func continued(at offset: Int) -> Action {
        guard (0...byteCount).contains(offset) else {
            return .contradict("The server has \(offset) bytes of an upload of \(byteCount).")
        }
        guard offset >= self.offset else {
            return .contradict("The server has \(offset) bytes of the upload, and had \(self.offset).")
        }
        self.offset = offset
        isOffsetUnknown = false
        return .proceed
    }

    private mutating func takeLimit(_ fields: UploadFields) {
        if let limit = fields.maximumAppendByteCount, limit > 0 {
            // The limit never rises. Otherwise, a server that refuses parts under a low limit and then states a higher
            // limit would receive parts without end.
            maximumAppendByteCount = min(limit, maximumAppendByteCount ?? limit)
        }
        if let limit = fields.maximumByteCount { maximumByteCount = limit }
    }

    private func isLimited(to count: Int) -> Bool { maximumAppendByteCount.map { $0 < count } ?? false }

    /// Returns whether the server has at least ``stepByteCount`` bytes more than ever before.
    mutating func hasAdvanced() -> Bool {
        guard max(offset, reported) - mark >= Self.stepByteCount else { return false }
        mark = max(offset, reported)
        return true
    }
}
