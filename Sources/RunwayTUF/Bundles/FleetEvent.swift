/// An event of a bundle on one device, as an action log has it: the name of the record is ``name``, and its properties
/// are `event` and `bundle`.
package enum FleetEvent: String, Sendable, CaseIterable {
    case installed
    case ready
    case condemned

    /// The name of the record.
    package static let name = "bundle"

    /// Returns the text of `bundle`, which identifies every byte of a version.
    ///
    /// - Parameters:
    ///   - version: The version of the manifest.
    ///   - sha256: The SHA-256 digest of the manifest.
    package static func bundle(_ version: Int64, _ sha256: String) -> String { "\(version)-\(sha256)" }
}
