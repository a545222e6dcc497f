import HTTPTypes

/// Decides what a download requests next, and what it does with each response. Pure: it performs no I/O.
struct DownloadPlan: Sendable {
    /// How much more than ever before has to come of an attempt for it to count as none: 256 KiB.
    static let stepByteCount = 256 << 10
    /// How often the download starts over when responses contradict each other.
    static let maximumFreshStarts = 2

    /// The largest file that is taken.
    let maximumByteCount: Int
    /// Whether parts may be asked for: of GET alone (RFC 9110 §14.2).
    let mayResume: Bool

    /// What the partial file holds the beginning of.
    private(set) var representation: Representation?
    /// How many bytes of it are there.
    private(set) var byteCount = 0
    /// How many bytes there have ever been.
    private var mark = 0
    private var freshStarts = 0
    /// Where the body that is being read ends; `nil` if the response does not say.
    private var end: Int?

    /// Begins with what an earlier download left.
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

    /// What of the rest is asked for; `nil` where all of it is.
    var range: (start: Int, validator: String)? {
        guard mayResume, byteCount > 0, let representation, let validator = representation.validator else { return nil }
        // Of a file that is complete the last byte is asked for again: that it is given shows that the file is still this one.
        return (byteCount == representation.byteCount ? byteCount - 1 : byteCount, validator)
    }

    /// What the download does with a response.
    enum Action: Sendable, Equatable {
        /// Its body goes to the partial file, from this place on.
        case append(at: Int)
        /// Its body is the whole file.
        case replace
        /// It is of no use, and the next request asks for less or for all.
        case askAgain(TransferDecision.Mismatch)
        /// Nothing can be made of it.
        case refuse(String)
    }

    /// Takes the head of a response that the service judged fine, or of one of status 416.
    mutating func take(_ head: HTTPResponse, isDecoded: Bool, now: HTTPDate) -> Action {
        switch head.status.code {
        case 206: takePart(head, isDecoded: isDecoded)
        case 416: takeUnsatisfied(head)
        case 304: .refuse("The server answered 304 Not Modified, and there is nothing to save")
        default: takeWhole(head, isDecoded: isDecoded, now: now)
        }
    }

    private mutating func takePart(_ head: HTTPResponse, isDecoded: Bool) -> Action {
        guard let asked = range, let representation else {
            return .refuse("The server sent a part of a file that was requested as a whole")
        }
        let fields = head.headerFields
        guard fields[values: .contentRange].count == 1, let given = fields[.contentRange].flatMap(ContentRange.init),
            given.bytes.lowerBound == asked.start
        else { return startAfresh(.range) }
        guard !isDecoded, !fields.isCoded else { return startAfresh(.coding) }
        guard representation.admits(head, given) else { return startAfresh(.validator) }
        let byteCount = representation.byteCount ?? given.completeLength
        guard given.bytes.upperBound <= min(byteCount ?? .max, maximumByteCount), byteCount ?? 0 <= maximumByteCount
        else { return tooLarge }
        self.representation?.byteCount = byteCount
        if let name = HTTPField.Name.reprDigest, let digest = fields[name] { self.representation?.digest = digest }
        self.byteCount = asked.start
        end = given.bytes.upperBound
        return .append(at: asked.start)
    }

    private mutating func takeWhole(_ head: HTTPResponse, isDecoded: Bool, now: HTTPDate) -> Action {
        let whole = Representation(head, isCoded: isDecoded || head.headerFields.isCoded, now: now)
        if let count = whole.byteCount, count > maximumByteCount { return tooLarge }
        representation = whole
        byteCount = 0
        end = whole.byteCount
        return .replace
    }

    private mutating func takeUnsatisfied(_ head: HTTPResponse) -> Action {
        // The length of the whole, which may have been unknown: perhaps nothing is missing.
        let complete = head.headerFields[.contentRange].flatMap { value in
            value.hasPrefix("bytes */") ? ByteRange.position(value.dropFirst(8)) : nil
        }
        guard let complete, complete == byteCount, representation?.byteCount == nil else {
            return startAfresh(.unsatisfied)
        }
        representation?.byteCount = complete
        return .askAgain(.complete)
    }

    /// Forgets what there is, and asks for all of it.
    mutating func startAfresh(_ mismatch: TransferDecision.Mismatch) -> Action {
        representation = nil
        byteCount = 0
        freshStarts += 1
        guard freshStarts <= Self.maximumFreshStarts else {
            return .refuse("The server's responses contradict each other: \(mismatch)")
        }
        return .askAgain(mismatch)
    }

    private var tooLarge: Action {
        .refuse("The file is larger than the \(maximumByteCount) bytes that the download allows")
    }

    /// Takes a part of the body that is being read.
    ///
    /// - Returns: What is wrong with it; `nil` for nothing.
    mutating func take(partOf count: Int) -> Action? {
        guard count <= (end ?? .max) - byteCount else { return startAfresh(.surplus) }
        guard count <= maximumByteCount - byteCount else { return tooLarge }
        byteCount += count
        return nil
    }

    /// What the end of a body means.
    enum Ending: Sendable, Equatable {
        /// All is there.
        case complete
        /// The server gave what it said, and there is more.
        case partial
        /// The server gave less than it said.
        case short
    }

    /// Takes the end of a body that came without an error.
    mutating func takeEnd() -> Ending {
        guard let end else {
            representation?.byteCount = byteCount
            return .complete
        }
        if byteCount < end { return .short }
        guard let whole = representation?.byteCount else { return .partial }
        return byteCount == whole ? .complete : .partial
    }

    /// Whether a good deal more than ever before is there; asked after an attempt ended early.
    mutating func hasAdvanced() -> Bool {
        guard byteCount - mark >= Self.stepByteCount else { return false }
        mark = byteCount
        return true
    }

    /// The bytes so far are left for a later download only if it can resume them.
    var isWorthKeeping: Bool { range != nil }
}

extension HTTPFields {
    /// Whether a body with these fields is in a content coding.
    var isCoded: Bool {
        guard let coding = self[.contentEncoding] else { return false }
        return !FieldList.elements(of: coding).allSatisfy { $0.lowercased() == "identity" }
    }
}
