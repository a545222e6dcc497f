extension Mediator {
    /// Returns the page at an address, without opening it. The rules are those of ``open(_:from:in:)``.
    ///
    /// - Throws: ``MediatorError``, if the address is that of no page that `caller` may open.
    public nonisolated func page(at address: String, from caller: Reach = .links) throws(MediatorError) -> any Page {
        switch addresses.destination(of: address, for: caller) {
        case .page(let page): return page
        case .site(_, let error), .nothing(let error): throw error
        }
    }

    /// Returns the address of a page with the scheme of the app, such as `app://orders/order?id=7`.
    ///
    /// - Throws: ``MediatorError/Kind/invalid`` if a parameter can't be written: it is a list, contains NUL, or makes
    ///   the address longer than 4,096 bytes.
    public nonisolated func address<P: Page>(of page: P) throws(MediatorError) -> String {
        try addresses.address(of: page)
    }

    /// Returns the address of a page on the web site, such as `https://m.example.com/o/7`: by ``Module/paths``, or else
    /// by the names of module and page.
    ///
    /// - Throws: ``MediatorError/Kind/invalid`` if a parameter can't be written, ``MediatorError/Kind/notFound`` if the
    ///   mediator has no web site.
    public nonisolated func webAddress<P: Page>(of page: P) throws(MediatorError) -> String {
        try addresses.siteAddress(of: page)
    }

    /// Compares published addresses with the pages that they opened when they were published.
    ///
    /// Addresses live on in mails, in printed codes and on other web sites. Record them in a test, which fails when a
    /// renamed case, a changed parameter or a narrower reach breaks one:
    ///
    /// ```swift
    /// let differences = mediator.differences(from: [
    ///     "app://orders/order?id=7": OrdersPage.order(id: 7, tab: nil),
    ///     "https://m.example.com/o/7": OrdersPage.order(id: 7, tab: nil),
    /// ])
    /// #expect(differences.isEmpty)
    /// ```
    ///
    /// - Parameter published: Addresses that links may open, each with its page.
    /// - Returns: A sentence for each address that opens another page or none.
    public nonisolated func differences(from published: KeyValuePairs<String, any Page>) -> [String] {
        published.compactMap { address, page in
            do throws(MediatorError) {
                let found = try self.page(at: address)
                return AnyHashable(found) == AnyHashable(page) ? nil : "\(address) opens another page"
            } catch {
                return "\(address) opens no page: \(error)"
            }
        }
    }
}
