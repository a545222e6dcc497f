import HTTPTypes

/// Decides the next request of a download, and how each response is used. It is a state machine without I/O.
struct DownloadPlan: Sendable {
    /// An attempt that receives at least this many new bytes (256 KiB) does not count toward the maximum number of
    /// attempts. Bytes are new if the partial file never had as many bytes before.
    static let stepByteCount = 256 << 10
    /// The maximum number of times that the download starts over because responses contradict each other.
    static let maximumFreshStarts = 2

    /// The maximum size of the file in bytes.
    let maximumByteCount: Int
    /// Whether parts may be requested, which only GET allows (RFC 9110 §14.2).
    let mayResume: Bool

    /// The representation that the partial file belongs to.
    private(set) var representation: Representation?
    /// The number of bytes in the partial file.
    private(set) var byteCount = 0
    /// The greatest number of bytes that the partial file has ever had.
    private var mark = 0
    private var freshStarts = 0
    /// The position in the file at which the body of the current response ends; `nil` if the response does not state
    /// it.
    private var end: Int?

    /// Starts with the partial file of an earlier download, if any.
    init(upTo maximumByteCount: Int, mayResume: Bool, _ representation: Representation?, byteCount: Int) {
        self.maximumByteCount = maximumByteCount
        self.mayResume = mayResume
        guard mayResume, let representation, representation.validator != nil, byteCount > 0,
            byteCount <= representation.byteCount ?? .max, byteCount <= maximumByteCount
        else { return }
        self.representation = representation
        self.byteCount = byteCount
        mark = byteCount
    }

    /// The range to request; `nil` to request the whole file.
    var range: (start: Int, validator: String)? {
        guard mayResume, byteCount > 0, let representation, let validator = representation.validator else { return nil }
        // If the file is complete, its last byte is requested again. If the server returns that byte, the file has not
        // changed.
        return (byteCount == representation.byteCount ? byteCount - 1 : byteCount, validator)
    }

    /// The way in which the download uses a response.
    enum Action: Sendable, Equatable {
        /// Append the body to the partial file at this position.
        case append(at: Int)
        /// Replace the partial file by the body, which is the whole file.
        case replace
        case reject(Rejection)
    }

    /// The next step after a response that can't be used.
    enum Rejection: Sendable, Equatable {
        /// Request again: a smaller part, or the whole file.
        case requestAgain(TransferDecision.Mismatch)
        /// Fail the download for this reason.
        case fail(String)
    }

    /// Processes the status and header fields of a response that the service accepted, or that has status 416.
    mutating func take(_ head: HTTPResponse, isDecoded: Bool, now: HTTPDate) -> Action {
        switch head.status.code {
        case 206: takePart(head, isDecoded: isDecoded)
        case 416: takeUnsatisfied(head)
        case 304: .reject(.fail("The server responded 304 Not Modified, and there is nothing to save"))
        default: takeWhole(head, isDecoded: isDecoded, now: now)
        }
    }

    private mutating func takePart(_ head: HTTPResponse, isDecoded: Bool) -> Action {
        guard let asked = range, let representation else {
            return .reject(.fail("The server sent a part of a file that was requested as a whole"))
        }
        let fields = head.headerFields
        guard fields[values: .contentRange].count == 1, let received = fields[.contentRange].flatMap(ContentRange.init),
            received.bytes.lowerBound == asked.start
        else { return .reject(restart(.range)) }
        guard !isDecoded, !fields.isCoded else { return .reject(restart(.coding)) }
        guard representation.admits(head, received) else { return .reject(restart(.validator)) }
        let byteCount = representation.byteCount ?? received.completeLength
        guard received.bytes.upperBound <= min(byteCount ?? .max, maximumByteCount), byteCount ?? 0 <= maximumByteCount
        else { return .reject(tooLarge) }
        self.representation?.byteCount = byteCount
        if let name = HTTPField.Name.reprDigest, let digest = fields[name] { self.representation?.digest = digest }
        self.byteCount = asked.start
        end = received.bytes.upperBound
        return .append(at: asked.start)
    }

    private mutating func takeWhole(_ head: HTTPResponse, isDecoded: Bool, now: HTTPDate) -> Action {
        let whole = Representation(head, isCoded: isDecoded || head.headerFields.isCoded, now: now)
        if let count = whole.byteCount, count > maximumByteCount { return .reject(tooLarge) }
        representation = whole
        byteCount = 0
        end = whole.byteCount
        return .replace
    }

    private mutating func takeUnsatisfied(_ head: HTTPResponse) -> Action {
        // The response states the complete length, which may have been unknown before. So perhaps no byte is missing.
        let complete = head.headerFields[.contentRange].flatMap { value in
            value.hasPrefix("bytes */") ? ByteRange.position(value.dropFirst(8)) : nil
        }
        guard let complete, complete == byteCount, representation?.byteCount == nil else {
            return .reject(restart(.unsatisfied))
        }
        representation?.byteCount = complete
        return .reject(.requestAgain(.complete))
    }

    /// Discards the partial file, so that the whole file is requested.
    mutating func restart(_ mismatch: TransferDecision.Mismatch) -> Rejection {
        representation = nil
        byteCount = 0
        freshStarts += 1
        guard freshStarts <= Self.maximumFreshStarts else {
            return .fail("The server's responses contradict each other: \(mismatch)")
        }
        return .requestAgain(mismatch)
    }

    private var tooLarge: Rejection {
        .fail("The file is larger than the \(maximumByteCount) bytes that the download allows")
    }

    /// Records a part of the body.
    ///
    /// - Returns: The next step if the part is invalid; `nil` if it is valid.
    mutating func take(partOf count: Int) -> Rejection? {
        guard count <= (end ?? .max) - byteCount else { return restart(.surplus) }
        guard count <= maximumByteCount - byteCount else { return tooLarge }
        byteCount += count
        return nil
    }

    /// The meaning of a body's end.
    enum Ending: Sendable, Equatable {
        /// The file is complete.
        case complete
        /// The server sent all bytes that it announced, but more bytes of the file are missing.
        case partial
        /// The server sent fewer bytes than it announced.
        case short
    }

    /// Records the end of a body without an error.
    mutating func takeEnd() -> Ending {
        guard let end else {
            representation?.byteCount = byteCount
            return .complete
        }
        if byteCount < end { return .short }
        guard let whole = representation?.byteCount else { return .partial }
        return byteCount == whole ? .complete : .partial
    }

    /// Returns whether considerably more bytes were received than ever before. Called after an attempt ended early.
    mutating func hasAdvanced() -> Bool {
        guard byteCount - mark >= Self.stepByteCount else { return false }
        mark = byteCount
        return true
    }
}

extension HTTPFields {
    var isCoded: Bool { !contentCodings.isEmpty }
}
