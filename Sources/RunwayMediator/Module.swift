/// Makes the screens of its pages, and supplies its services to other modules.
///
/// ```swift
/// struct OrdersModule: Module {
///     func screen(for page: OrdersPage, in mediator: Mediator) -> Screen {
///         switch page {
///         case .list: Screen(OrderList(mediator: mediator))
///         case .order(let id, let tab): Screen(OrderDetails(id: id, tab: tab))
///         case .pay(let id): Screen(Payment(of: id), as: .sheet)
///         }
///     }
///
///     var services: [Service] { [Service((any Orders).self) { LiveOrders() }] }
///     var paths: KeyValuePairs<String, String> { ["order": "/o/{id}"] }
/// }
/// ```
///
/// The app lists its modules once, when it creates the ``Mediator``. A module imports the pages and protocols of the
/// modules that it uses, and nothing else of them.
@MainActor public protocol Module {
    /// The pages of the module; `Never` for a module that has services only.
    associatedtype Pages: Page

    /// Makes the screen of a page.
    ///
    /// - Parameters:
    ///   - page: The page, with its parameters.
    ///   - mediator: Opens pages of other modules. The screen may store it.
    func screen(for page: Pages, in mediator: Mediator) -> Screen

    /// Returns the conditions under which a page may be shown, which are checked in this order; by default none.
    func guards(for page: Pages) -> [Guard]

    /// Starts the calls that a page will make, so that their responses are in the cache when it asks for them; by
    /// default none.
    ///
    /// It is called when the page is about to be shown, also if the web site shows it instead. It must return at once:
    ///
    /// ```swift
    /// func prefetch(for page: OrdersPage) {
    ///     if case .order(let id, _) = page { Task { try? await network.call(OrderEndpoint(id: id)) } }
    /// }
    /// ```
    ///
    /// The endpoint needs a cache policy: the call of the page then joins the one in flight, or finds its response.
    func prefetch(for page: Pages)

    /// The services that other modules may use; by default none.
    var services: [Service] { get }

    /// Paths of an existing web site, by the name of the page; by default none.
    ///
    /// With `["order": "/o/{id}"]` the page `order` also has the address `https://m.example.com/o/7`. A name in braces
    /// is a whole segment. The other parameters are in the query. A page is written with its first path for which it
    /// has all parameters, and without one as `/orders/order`.
    var paths: KeyValuePairs<String, String> { get }

    /// The pages and services of other modules without which the module does not work; by default none.
    ///
    /// ``Mediator/check()`` reports those that no module supplies:
    ///
    /// ```swift
    /// var uses: [Any.Type] { [OrdersPage.self, (any Orders).self] }
    /// ```
    var uses: [Any.Type] { get }
}

extension Module {
    /// No conditions.
    public func guards(for page: Pages) -> [Guard] { [] }
    /// No calls.
    public func prefetch(for page: Pages) {}
    /// No services.
    public var services: [Service] { [] }
    /// No paths but those of the names.
    public var paths: KeyValuePairs<String, String> { [:] }
    /// No other module.
    public var uses: [Any.Type] { [] }
}

extension Module where Pages == Never {
    /// Is never called, since there is no page.
    public func screen(for page: Never, in mediator: Mediator) -> Screen {}
}

/// Lists modules, one a line, with `if` for those that not every build has.
@resultBuilder public enum ModuleBuilder {
    /// Lists one module.
    public static func buildExpression(_ module: any Module) -> [any Module] { [module] }
    /// Joins lines.
    public static func buildBlock(_ modules: [any Module]...) -> [any Module] { Array(modules.joined()) }
    /// Lists the modules of an `if`, or none.
    public static func buildOptional(_ modules: [any Module]?) -> [any Module] { modules ?? [] }
    /// Lists the modules of an `if`.
    public static func buildEither(first modules: [any Module]) -> [any Module] { modules }
    /// Lists the modules of an `else`.
    public static func buildEither(second modules: [any Module]) -> [any Module] { modules }
}
