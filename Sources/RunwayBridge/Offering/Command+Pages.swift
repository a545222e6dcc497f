public import RunwayMediator

extension Command {
    /// Declares the command `pages.open`, with which a page opens pages of the app by their addresses.
    ///
    /// ```js
    /// await runway.call("pages.open", { address: "app://orders/order?id=7" })
    /// ```
    ///
    /// Only pages whose reach is `.pages` or `.links` open. The output is `"shown"`, or `"waiting"` if the page opens
    /// later. The call fails with the kind of the mediator's error, such as `outOfReach`.
    ///
    /// - Parameter mediator: The mediator of the app.
    public static func openPages(in mediator: Mediator) -> Command {
        Command("pages.open") { (page: PageAddress, _) in try await page.open(in: mediator) }
    }
}

private struct PageAddress: Decodable, Sendable {
    let address: String

    @MainActor func open(in mediator: Mediator) throws(BridgeError) -> String {
        switch mediator.open(address, from: .pages) {
        case .shown: return "shown"
        case .waiting: return "waiting"
        case .web: return "web"
        case .refused(let error): throw BridgeError(error)
        }
    }
}
