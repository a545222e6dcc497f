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
/// The synthesised coding of the enum is its address: `app://orders/order?id=7` opens `.order(id: 7, tab: nil)`. The
/// case and the labels name the path and the parameters. `CodingKeys`, and `OrderCodingKeys` for the case `order`,
/// preserve names when the code is renamed. An enum of strings, `enum HelpPage: String, Page`, is a page, too.
///
/// A parameter is text, a number, a `Bool`, a `UUID`, a type that is coded as one of them (an enum of strings), or an
/// optional of them. A page with any other parameter opens by value, and has no address.
public protocol Page: Codable, Hashable, Sendable {
    /// The name of the module, which begins the path of each address.
    ///
    /// Up to 63 small ASCII letters, digits and hyphens that begin with a letter; ``Mediator/check()`` reports other
    /// names.
    static var module: String { get }

    /// Who may open the page; by default ``Reach/app``, code of the app only.
    var reach: Reach { get }
}

extension Page {
    /// Only code of the app may open the page.
    public var reach: Reach { .app }
}

/// Who may open a page; also, who asks to open an address.
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
