/// The owner of an upload, who may continue it.
public struct UploadOwner: Sendable, Hashable {
    /// Anyone who knows the URL of the upload, for example for a transfer by link. Use it only if clients are not
    /// identified: otherwise, an upload would lose its owner when a login expires.
    public static let bearer = UploadOwner(name: nil)

    /// An account that the app has identified. Its uploads are invisible to all other clients, and have their own share
    /// (``UploadLimits``).
    public static func account(_ name: String) -> UploadOwner { UploadOwner(name: name) }

    let name: String?
}
