/// Names a screen of a module, with its parameters, as a value that other modules may create.
///
/// Declare one enum for each module, in a target of its own that the other modules import:
///
/// ```swift
/// enum OrdersPage: Page {
///     static let module = "orders"
///     case list, order(id: Int, tab: String?), pay(id: Int)
///
///     var reach: Reach { if case .pay = self { .app } else { .links } }
/// }
/// ```
///
/// The address of a page follows from the `Codable` conformance that the compiler synthesises for the enum:
/// `app://orders/order?id=7` opens `.order(id: 7, tab: nil)`. The name of the case is the path, and the labels are the
/// names of the parameters. To rename a case or a label without changing its addresses, declare `CodingKeys` for the
/// cases, or `OrderCodingKeys` for the labels of the case `order`. An enum with raw values of type `String` can also be
/// a page: `enum HelpPage: String, Page`.
///
/// A parameter that is in an address is text, a number, a `Bool`, a `UUID`, a type that is coded as one of these, such
/// as an enum of strings, or an optional of one. A page with a parameter of any other type has no address, and opens by
/// value only.
public protocol Page: Codable, Hashable, Sendable {
    /// The name of the module, which begins the path of each address.
    ///
    /// It has at most 63 characters: small ASCII letters, digits and hyphens, the first of which is a letter.
    /// ``Mediator/check()`` reports any other name.
    static var module: String { get }

    /// Who may open the page; by default ``Reach/app``, code of the app only.
    var reach: Reach { get }
}

extension Page {
    /// Only code of the app may open the page.
    public var reach: Reach { .app }
}

/// The callers that may open a page. A call that opens an address names its caller in the same way.
public enum Reach: Sendable {
    /// Only code of the app.
    case app
    /// Code of the app, and web pages that the app shows.
    case pages
    /// Everyone: also links of other apps, notifications and messages of a server.
    case links

    /// Whether a page with this reach may be opened by `caller`.
    func admits(_ caller: Reach) -> Bool {
        switch self {
        case .app: caller == .app
        case .pages: caller != .links
        case .links: true
        }
    }
}

// A module that has services only has no pages.
extension Never: Page {
    /// Empty, since there is no page.
    public static var module: String { "" }
}
