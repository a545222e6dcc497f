import RunwayTUF

/// Identifies one version of a bundle by its number and by the digest of its manifest, and so by every byte of it.
///
/// The text form, such as `7-9f86d081…`, can be read back, for example after a page has sent it with its call that it
/// is ready.
public struct BundleID: Sendable, Hashable, LosslessStringConvertible {
    /// The number of the version. Later versions have higher numbers.
    public let version: Int64
    /// The SHA-256 digest of the manifest in hexadecimal digits; `nil` for the copy that is embedded in the app.
    package let digest: String?

    package init(version: Int64, digest: String) { (self.version, self.digest) = (version, digest) }

    /// Creates the identifier of the embedded copy.
    package init(embedded version: Int64) { (self.version, digest) = (version, nil) }

    /// Reads the text form. Returns `nil` for any other text.
    public init?(_ description: String) {
        guard let match = description.wholeMatch(of: /([0-9]{1,19})-(embedded|[0-9a-f]{64})/),
            let version = Int64(match.1), String(version) == match.1
        else { return nil }
        (self.version, digest) = (version, match.2 == "embedded" ? nil : String(match.2))
    }

    /// Whether this is the copy that is embedded in the app.
    public var isEmbedded: Bool { digest == nil }

    /// The number and the digest, or `embedded`.
    public var description: String { "\(version)-\(digest ?? "embedded")" }
}

extension BundleID: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = BundleID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "It is no identifier of a bundle.")
        }
        self = id
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
