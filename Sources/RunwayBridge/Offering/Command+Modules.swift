public import RunwayMediator

extension Command {
    /// Declares a command that calls a service of a module.
    ///
    /// ```swift
    /// let summary = Command("orders.summary", using: (any Summaries).self, in: mediator) { (orders, id: OrderID, _) in
    ///     try await orders.summary(of: id.id)
    /// }
    /// ```
    ///
    /// The call fails with the kind `noService` if no module of this build supplies the service. A method of a data
    /// center needs no service: the closure of ``init(_:isUnsafe:usesDevice:deadline:run:)`` calls it. Rows of tables
    /// are not `Encodable`, so that no command returns them.
    ///
    /// - Parameters:
    ///   - name: The name by which pages call it.
    ///   - isUnsafe: Whether it changes something. Then a call needs a gesture of the user. The default is `false`.
    ///   - type: The protocol of the service, as in `(any Summaries).self`.
    ///   - mediator: The mediator of the app.
    ///   - deadline: The longest time that a call takes. The default is 30 s.
    ///   - run: Performs the command, as in ``init(_:isUnsafe:usesDevice:deadline:run:)``.
    public init<Interface: Sendable, Input: Decodable & Sendable, Output: Encodable & Sendable>(
        _ name: String, isUnsafe: Bool = false, using type: Interface.Type, in mediator: Mediator,
        deadline: Duration = .seconds(30),
        run: @escaping @Sendable (_ service: Interface, _ input: Input, _ call: CommandCall) async throws -> Output
    ) {
        self.init(name, isUnsafe: isUnsafe, deadline: deadline) { (input: Input, call) in
            let service: Interface
            do throws(MediatorError) { service = try mediator.service(type) } catch { throw BridgeError(error) }
            return try await run(service, input, call)
        }
    }

    /// Declares a command that opens a page of the app, and returns the page's result.
    ///
    /// ```swift
    /// let pick = Command("account.pick", resultOf: { (_: NoValue, reply) in AccountPage.pick(reply) }, in: mediator)
    /// ```
    ///
    /// The reach of the page has to be `.pages` or `.links`; the call fails with `outOfReach` otherwise, and with
    /// `closed` if the user leaves the page without a result. The page of the app closes if the web page is left.
    ///
    /// - Parameters:
    ///   - name: The name by which pages call it.
    ///   - page: Makes the page of an input and the reply.
    ///   - mediator: The mediator of the app.
    ///   - deadline: The longest time for which the page waits. The default is 10 minutes.
    public init<Input: Decodable & Sendable, P: Page, Value: Encodable & Sendable>(
        _ name: String, resultOf page: @escaping @Sendable (_ input: Input, _ reply: Reply<Value>) -> P,
        in mediator: Mediator, deadline: Duration = .seconds(600)
    ) {
        self.init(name, deadline: deadline) { (input: Input, _) in
            guard page(input, Reply()).reach != .app else {
                throw BridgeError(BridgeError.Kind("outOfReach"), "Only the app opens the page.")
            }
            do throws(MediatorError) { return try await mediator.result(of: { page(input, $0) }) } catch {
                throw BridgeError(error)
            }
        }
    }
}

extension BridgeError {
    /// The kind and the reason of the mediator, which contain no values.
    init(_ error: MediatorError) { self.init(Kind(error.kind.description), error.reason) }
}
