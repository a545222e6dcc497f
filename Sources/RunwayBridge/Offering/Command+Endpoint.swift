public import Runway
import RunwayJSON

extension Command {
    /// Declares a command that calls an endpoint of the app, with the app's credentials, cache and retries.
    ///
    /// ```swift
    /// let listOrders = Command("orders.list", calling: OrderList.self, on: network) { list throws(BridgeError) in
    ///     if list.pageSize > 50 { throw BridgeError(.invalidInput, "A page has at most 50 orders.") }
    /// }
    /// ```
    ///
    /// The input is the endpoint: pages choose its parameters, but neither its server nor the form of its path. The
    /// output is the body of the response, which has to be JSON. An endpoint whose method is not safe (RFC 9110 §9.2.1)
    /// needs a gesture, and its request carries ``CommandCall/idempotencyKey`` as `Idempotency-Key`.
    ///
    /// - Parameters:
    ///   - name: The name by which pages call it.
    ///   - endpoint: The endpoint.
    ///   - network: The layer that sends the call.
    ///   - check: Throws an error for parameters that pages may not choose. By default they may choose all.
    public init<E: Endpoint & Decodable>(
        _ name: String, calling endpoint: E.Type, on network: NetworkLayer,
        check: @escaping @Sendable (E) throws(BridgeError) -> Void = { (_) throws(BridgeError) in }
    ) {
        self.init(name, isUnsafe: !E.method.isSafe, usesDevice: false, deadline: .seconds(60)) { document, call in
            let endpoint: E = try Self.read(document)
            try check(endpoint)
            return try await call.send(endpoint, on: network)
        }
    }
}

extension CommandCall {
    /// Sends a call of the app, and returns its response, which has to be JSON.
    func send<E: Endpoint>(
        _ endpoint: E, _ options: CallOptions = .standard, on network: NetworkLayer
    ) async throws(BridgeError) -> CommandOutput {
        var options = options
        if !E.method.isSafe { options.headers["Idempotency-Key"] = idempotencyKey }
        let response: RawData
        do throws(NetworkError) { response = try await network.call(endpoint, options: options) } catch {
            throw BridgeError(BridgeError.Kind(error.kind.name), "The call of the app failed.")
        }
        if response.bytes.isEmpty { return .json(Array("null".utf8)) }
        guard response.json.exists else { throw BridgeError(.failed, "The response is not JSON.") }
        return .json(response.bytes)
    }
}
