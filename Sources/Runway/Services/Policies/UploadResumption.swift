/// Determines whether an interrupted upload continues at the server's offset, and how requests ask the server for it.
///
/// ```swift
/// struct FilmUpload: Endpoint {
///     static let service = Listings.self
///     static let method = HTTPRequest.Method.put
///     static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
///     static let uploadResumption = UploadResumption.on
///
///     @Unencoded var film: URL
///     @Unencoded var id: Int
///     var path: EndpointPath { "rental/\(id)/film" }
///     var content: RequestBody { get throws { try .file(film) } }
/// }
/// ```
///
/// Resumption needs a server that supports resumable uploads (draft-ietf-httpbis-resumable-upload), a transport that
/// delivers interim responses (`NIOTransport`, or ``URLSessionTransport`` on Apple's systems), and a body that is a
/// file (``RequestBody/file(_:)``). Otherwise the policy has no effect: an interrupted upload starts over.
public struct UploadResumption: Sendable, Hashable {
    /// An interrupted upload starts over.
    public static let off = UploadResumption(isOn: false)
    /// An interrupted upload continues, even in a process that is started later.
    public static let on = UploadResumption()

    private(set) var isOn = true
    /// The interop version of the IETF draft that requests contain, from 5 to 8. The default is 6, which `URLSession`
    /// and swift-nio-extras use. The newest drafts have version 8. A server with another version does not offer to
    /// resume uploads.
    public var interopVersion = 6
    /// Whether a later call for the same file, endpoint and account continues the upload, even in another process. The
    /// default is `true`.
    ///
    /// The URL of the upload is then stored in `FILE.upload` next to the file, with mode 0600, until the upload is
    /// complete. If that file can't be written, only the call itself can continue the upload.
    public var outlivesCall = true

    private init(isOn: Bool) { self.isOn = isOn }

    /// Creates a setting that continues interrupted uploads.
    ///
    /// - Parameters:
    ///   - interopVersion: The interop version of the IETF draft, from 5 to 8. Other numbers are replaced by the
    ///     nearest of these. The default is 6.
    ///   - outlivesCall: Whether a later call continues the upload. The default is `true`.
    public init(interopVersion: Int = 6, outlivesCall: Bool = true) {
        self.interopVersion = min(max(interopVersion, 5), 8)
        self.outlivesCall = outlivesCall
    }
}
