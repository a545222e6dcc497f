/// The owner of an upload.
public struct UploadOwner: Sendable, Hashable {
    /// Anyone who knows the URL of the upload, for example for a transfer by a link. Use it only if no client is known:
    /// otherwise an upload would lose its owner when a login expires.
    public static let bearer = UploadOwner(name: nil)

    /// The account that the app has identified. Its uploads are invisible to all others, and have a share of their own
    /// (``UploadLimits``).
    public static func account(_ name: String) -> UploadOwner { UploadOwner(name: name) }

    let name: String?
}
