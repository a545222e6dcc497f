import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore

/// Serves the document by which Apple's systems open addresses of a web site in an app.
///
/// `RunwayMediator` makes the document of the app's modules (`siteAssociation(of:)`); a test or a tool of the app
/// writes it to a file, which the server loads. `runway links HOST` checks what a host serves.
///
/// ```swift
/// let document = try Data(contentsOf: URL(fileURLWithPath: "apple-app-site-association"))
/// try SiteAssociationRoute(Array(document)).add(to: router)
/// ```
///
/// The document is served at `/.well-known/apple-app-site-association` as `application/json`, to everyone and without a
/// redirect. Add the route to the site's router, before a middleware that redirects or authenticates.
public struct SiteAssociationRoute: Sendable {
    /// The longest document that Apple's systems read, in bytes.
    public static let maximumByteCount = 128 << 10

    /// The reason for which Apple's systems would ignore a document.
    public struct InvalidDocument: Error, CustomStringConvertible, Sendable {
        /// A sentence for developers.
        public let description: String
    }

    private let document: [UInt8]

    /// Creates a route that serves a document.
    ///
    /// - Parameter document: A JSON object with the member `applinks`, of at most ``maximumByteCount``.
    /// - Throws: ``InvalidDocument`` if it is not.
    public init(_ document: [UInt8]) throws(InvalidDocument) {
        guard document.count <= Self.maximumByteCount else {
            throw InvalidDocument(description: "The document has more than \(Self.maximumByteCount) bytes.")
        }
        let object = try? JSONSerialization.jsonObject(with: Data(document)) as? [String: Any]
        guard object?["applinks"] is [String: Any] else {
            throw InvalidDocument(description: "The document is not a JSON object with the member applinks.")
        }
        self.document = document
    }

    /// Adds the route to the router of the site.
    public func add<Context: RequestContext>(to router: some RouterMethods<Context>) {
        router.get(".well-known/apple-app-site-association") { _, _ in
            // One hour: a device asks Apple's servers, which ask again after about a day.
            Response(
                status: .ok, headers: [.contentType: "application/json", .cacheControl: "max-age=3600"],
                body: ResponseBody(byteBuffer: ByteBuffer(bytes: document)))
        }
    }
}
