/// The document that a web site serves at `/.well-known/apple-app-site-association`, so that its addresses open the
/// app.
///
/// ```swift
/// let document = try JSONEncoder().encode(mediator.siteAssociation(of: ["ABCDE12345.com.example.shop"]))
/// ```
///
/// The keys are those of Apple's documentation, "Supporting associated domains". The document has the paths of all
/// pages, since the reach of a page depends on its parameters: an address that links may not open is shown by the site.
public struct SiteAssociation: Encodable, Hashable, Sendable {
    struct AppLinks: Encodable, Hashable {
        var details: [Details]
    }

    /// The paths that a group of apps opens. The system uses the first one that fits.
    struct Details: Encodable, Hashable {
        var appIDs: [String]
        var components: [Component]
    }

    /// A pattern of paths, in which `*` fits any text.
    struct Component: Encodable, Hashable {
        var path: String
        var comment: String

        enum CodingKeys: String, CodingKey {
            case path = "/"
            case comment
        }
    }

    var applinks: AppLinks
}

extension Mediator {
    /// Returns the document that associates the web site with apps: every path of every module.
    ///
    /// - Parameter appIDs: The apps, each as its team identifier, a dot and its bundle identifier.
    public nonisolated func siteAssociation(of appIDs: [String]) -> SiteAssociation {
        let templates = addresses.routes.map { route in
            SiteAssociation.Component(
                path: route.template.pattern, comment: "\(route.pages.module)/\(route.template.page)")
        }
        let modules = addresses.pages.keys.sorted().map { SiteAssociation.Component(path: "/\($0)/*", comment: $0) }
        return SiteAssociation(applinks: .init(details: [.init(appIDs: appIDs, components: templates + modules)]))
    }
}

extension PathTemplate {
    /// The pattern of the paths, with a `*` for each parameter.
    fileprivate var pattern: String {
        var bytes: [UInt8] = []
        for segment in segments {
            bytes.append(UInt8(ascii: "/"))
            switch segment {
            case .literal(let text): Percent.encode(text, to: &bytes)
            case .parameter: bytes.append(UInt8(ascii: "*"))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
