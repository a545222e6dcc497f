public import Foundation

/// One part of a form with files (`multipart/form-data`, RFC 7578): a field or a file.
///
/// ```swift
/// struct PhotoUpload: Endpoint {
///     static let service = Listings.self
///     static let method = HTTPRequest.Method.post
///     static let encoding = ParameterEncoding.multipart()
///
///     @Unencoded var photo: URL
///     var path: EndpointPath { "photos" }
///     var parts: [FormPart] {
///         get throws { [.field("title", "Garden"), try .file(photo, name: "photo", contentType: "image/jpeg")] }
///     }
/// }
/// ```
public struct FormPart: Sendable {
    /// The name of the form field.
    public var name: String
    /// The file name that is sent to the server; `nil` if the part is not a file.
    public var fileName: String?
    /// The media type. If it is `nil`, no media type is sent, and the part counts as `text/plain`.
    public var contentType: String?
    /// The content of the part.
    public var body: RequestBody

    /// Creates a part with any content, such as bytes in memory or a stream.
    ///
    /// - Parameters:
    ///   - name: The name of the form field.
    ///   - fileName: The file name that is sent to the server; `nil` if the part is not a file.
    ///   - contentType: The media type; `nil` sends none.
    ///   - body: The content. If its length is unknown, the length of the whole form is unknown, and the form is sent
    ///     in chunks.
    public init(name: String, fileName: String? = nil, contentType: String? = nil, body: RequestBody) {
        self.name = name
        self.fileName = fileName
        self.contentType = contentType
        self.body = body
    }

    /// Returns a part with text, without a file name.
    public static func field(_ name: String, _ value: String) -> FormPart {
        FormPart(name: name, body: .bytes(Array(value.utf8)))
    }

    /// Returns a part with a file, which is opened and read while it is sent; see ``RequestBody/file(_:)``.
    ///
    /// - Parameters:
    ///   - file: The file.
    ///   - name: The name of the form field.
    ///   - fileName: The file name that is sent to the server. With `nil`, the file's own name is sent.
    ///   - contentType: The media type. The default is `application/octet-stream`.
    /// - Throws: ``NetworkError/Kind/storage`` if the file is not a regular file or can't be read.
    public static func file(
        _ file: URL, name: String, fileName: String? = nil, contentType: String = "application/octet-stream"
    ) throws(NetworkError) -> FormPart {
        FormPart(
            name: name, fileName: fileName ?? file.lastPathComponent, contentType: contentType, body: try .file(file))
    }
}
