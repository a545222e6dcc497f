import NIOCore

/// Decodes the parts of a streamed body as they are read.
struct DecodedParts {
    private let codings: [ContentCoding]
    private let limits: ContentDecoder.Limits
    private var decoder: ContentDecoder?
    /// The number of ignored bytes after the end of the coded body.
    var surplusByteCount: Int { decoder?.surplusByteCount ?? 0 }

    /// - Parameter codings: The codings in the order of decoding. If empty, the parts are passed unchanged.
    init(undoing codings: [ContentCoding], limits: ContentDecoder.Limits) {
        self.codings = codings
        self.limits = limits
    }

    /// Returns the next part, or `nil` at the end.
    ///
    /// - Parameter nextPart: Returns the next part as received, or `nil` at the end.
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
