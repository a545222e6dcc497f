/// Makes the screens of its pages, and supplies its services to other modules.
///
/// ```swift
/// struct OrdersModule: Module {
///     func screen(for page: OrdersPage, in mediator: Mediator) -> Screen {
///         switch page {
///
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

    /// Returns the conditions that have to be fulfilled before a page is shown, in the order in which they are checked;
    /// by default none.
    func guards(for page: Pages) -> [Guard]

    /// Starts the network calls that a page will make, before the page is shown; by default none.
    ///
    /// It is called when the page is about to be shown, natively or by the web site. It must return at once:
    ///
    /// ```swift
    /// func prefetch(for page: OrdersPage) {
    ///     if case .order(let id, _) = page { Task { try? await network.call(OrderEndpoint(id: id)) } }
    /// }
    /// ```
    ///
    /// Give the endpoint a cache policy. The page's own call then joins the call in flight, or finds its response in
    /// the cache.
    func prefetch(for page: Pages)

    /// The services that other modules may use; by default none.
    var services: [Service] { get }

    /// The paths that an existing web site has for pages of this module, by the name of the page; by default none.
    ///
    /// With `["order": "/o/{id}"]`, the address `https://m.example.com/o/7` opens the page `order` with the `id` 7. A
    /// name in braces stands for a whole segment of the path, which has the value of that parameter. All other
    /// parameters are in the query. If a page has several paths, its address has the first one whose parameters it has.
    /// Without a path, its address on the web site is `/orders/order`.
    var paths: KeyValuePairs<String, String> { get }

    /// The pages and services of other modules that this module needs; by default none.
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
    /// No paths: addresses on the web site have the names of the module and the page.
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
