/// Whom an upload belongs to.
public struct UploadOwner: Sendable, Hashable {
    /// Whoever knows the URL of the upload, as after a transfer over a link. Choose it only where no client is known:
    /// with it, an expired login would make an upload nobody's.
    public static let bearer = UploadOwner(name: nil)

    /// The account that the app has identified. Its uploads exist for no other, and have a share of their own
    /// (``UploadLimits``).
    public static func account(_ name: String) -> UploadOwner { UploadOwner(name: name) }

    let name: String?
}
