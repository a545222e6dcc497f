/// Opens pages of modules that do not know each other, by value or by address, and supplies their services.
///
/// ```swift
/// let mediator = Mediator(fallback: .web("https://m.example.com")) {
///     OrdersModule()
///     AccountModule()
/// }
///
/// mediator.shell = shell
/// mediator.open(OrdersPage.order(id: 7, tab: nil))
/// let address = try await mediator.result(of: AccountPage.pickAddress)
/// let summary = try await mediator.service((any Orders).self).summary(of: 7)
/// ```
///
/// An app creates one mediator, and passes it to its screens and services. It lists no routes: the address of a page
/// follows from the names in its enum; see ``Page``.
@MainActor public final class Mediator {
    /// The web site of the app.
    public struct Fallback: Sendable {
        let host: String?

        /// No web site: only addresses with the scheme of the app open pages.
        public static let none = Fallback(host: nil)

        /// The web site whose addresses open pages of the app.
        ///
        /// If this build has no page for an address, or a ``Guard`` has switched the page off, the web site is shown at
        /// the same path.
        ///
        /// - Parameter origin: `https://` and a host in small letters, without a port and a path.
        public static func web(_ origin: String) -> Fallback {
            let host = String(origin.dropFirst("https://".count))
            precondition(
                origin.hasPrefix("https://") && !host.isEmpty && host == host.lowercased()
                    && host.utf8.allSatisfy(Percent.isUnreserved),
                "the web site is https:// and a host in small letters")
            return Fallback(host: host)
        }
    }

    /// Shows screens in the window where the user works. It is held weakly.
    ///
    /// An app with several windows has a shell for each, and sets this property when a window becomes active.
    ///
    /// While it is `nil`, no page opens (``MediatorError/Kind/noShell``). If a link is opened meanwhile, the mediator
    /// stores it and opens it in the next shell: so a link can launch the app. Only the last link is stored.
    public weak var shell: (any Shell)? { didSet { openStoredLink() } }

    let modules: [any Module]
    private let modulesByPages: [ObjectIdentifier: any Module]
    nonisolated let addresses: AddressBook
    private nonisolated let services: [ObjectIdentifier: Service]

    /// The screens for whose results somebody waits.
    var openings: [ScreenID: Opening] = [:]
    /// The last link that was opened without a shell.
    var storedLink: (address: String, caller: Reach)?
    /// The page that waits at each guard, by the name of the guard.
    var waiting: [String: WaitingPage] = [:]
    private var screenCount = 0

    /// Creates a mediator.
    ///
    /// If two modules have the same name, or two services the same type, the mediator uses the first and ignores the
    /// second; ``check()`` reports it.
    ///
    /// - Parameters:
    ///   - scheme: The URL scheme of the app, in small letters, as it is registered with the system.
    ///   - fallback: The web site that is shown for pages that this build does not have. The default is none.
    ///   - ignoredParameters: Names of query parameters that are skipped in addresses of the web site, such as
    ///     `utm_source`. By default none is skipped: the web site shows an address with an unknown parameter.
    ///   - modules: The modules of this build.
    public init(
        scheme: String = "app", fallback: Fallback = .none, ignoredParameters: Set<String> = [],
        @ModuleBuilder modules: @MainActor () -> [any Module]
    ) {
        precondition(
            !scheme.isEmpty && scheme != "https" && scheme == scheme.lowercased()
                && scheme.utf8.allSatisfy(Percent.isUnreserved), "the scheme of the app is a word in small letters")
        self.modules = modules()
        let services = self.modules.flatMap(\.services)
        self.services = Dictionary(services.map { (ObjectIdentifier($0.type), $0) }) { first, _ in first }
        let withPages = self.modules.filter { $0.pages != Never.self }
        modulesByPages = Dictionary(withPages.map { (ObjectIdentifier($0.pages), $0) }) { first, _ in first }
        addresses = AddressBook(
            origins: Address.Origins(scheme: scheme, host: fallback.host), ignored: ignoredParameters,
            pages: Dictionary(withPages.map { ($0.pages.module, $0.pages) }) { first, _ in first },
            routes: withPages.flatMap { module in
                module.paths.compactMap { page, text in
                    guard let template = try? PathTemplate(text, for: page) else { return nil }
                    return AddressBook.Route(pages: module.pages, template: template)
                }
            })
    }

    func module(of page: any Page) -> (any Module)? { modulesByPages[ObjectIdentifier(type(of: page))] }

    func makeScreenID() -> ScreenID {
        screenCount += 1
        return ScreenID(number: screenCount)
    }

    /// Returns the service that another module supplies. The first call creates it, later calls return the same one.
    ///
    /// - Parameter type: The protocol of the service, as in `(any Orders).self`.
    /// - Throws: ``MediatorError/Kind/noService`` if no module of this build supplies it.
    public nonisolated func service<Interface: Sendable>(
        _ type: Interface.Type
    ) throws(MediatorError) -> Interface {
        guard let service = services[ObjectIdentifier(type)]?.instance(in: self) as? Interface else {
            throw MediatorError(.noService, "no module of this build supplies \(type)")
        }
        return service
    }
}

extension Module {
    var pages: any Page.Type { Pages.self }
}
