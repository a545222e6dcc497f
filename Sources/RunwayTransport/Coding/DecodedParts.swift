import NIOCore

/// The parts of a streamed body with its codings undone, no further than they are read.
struct DecodedParts {
    private let codings: [ContentCoding]
    private let limits: ContentDecoder.Limits
    private var decoder: ContentDecoder?
    /// The number of bytes behind the end of the coded body that were ignored so far.
    var surplusByteCount: Int { decoder?.surplusByteCount ?? 0 }

    /// - Parameter codings: The codings to undo, in this order; with none the parts are passed unchanged.
    init(undoing codings: [ContentCoding], limits: ContentDecoder.Limits) {
        self.codings = codings
        self.limits = limits
    }

    /// Returns the next part; `nil` at the end.
    ///
    /// - Parameter nextPart: Returns the next part as received, and `nil` at the end.
    /// - Throws: ``ContentDecoder/Failure``, or the errors of `nextPart`.
    mutating func next(from nextPart: () async throws -> ByteBuffer?) async throws -> [UInt8]? {
        if codings.isEmpty { return try await nextPart().map { Array($0.readableBytesView) } }
        let current = try decoder ?? ContentDecoder(codings, limits: limits)
        decoder = current
        while true {
            if let decoded = try current.pull() { return decoded }
            guard let part = try await nextPart() else {
                try current.finish()
                return nil
            }
            current.push(part)
        }
    }
}
