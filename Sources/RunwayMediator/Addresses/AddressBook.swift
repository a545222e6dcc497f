/// Finds the page of an address, and writes the addresses of pages. It does not change once the mediator is created.
struct AddressBook: Sendable {
    /// A path of the web site, and the module that has it.
    struct Route: Sendable {
        let pages: any Page.Type
        let template: PathTemplate
    }

    let origins: Address.Origins
    let ignored: Set<String>
    /// By the name of the module.
    let pages: [String: any Page.Type]
    let routes: [Route]
    private let routesByDepth: [Int: [Route]]

    init(origins: Address.Origins, ignored: Set<String>, pages: [String: any Page.Type], routes: [Route]) {
        self.origins = origins
        self.ignored = ignored
        self.pages = pages
        self.routes = routes
        routesByDepth = Dictionary(grouping: routes) { $0.template.segments.count }
    }

    /// The destination of an address.
    enum Destination {
        case page(any Page)
        /// No page that the caller may open; the web site may have one at this address.
        case site(String, MediatorError)
        case nothing(MediatorError)
    }

    /// Reads an address, and checks that `caller` may open its page.
    func destination(of text: String, for caller: Reach) -> Destination {
        let address: Address
        do { address = try Address(text, at: origins) } catch {
            // Only for an address of the site.
            return error.kind == .notFound ? .site(text, error) : .nothing(error)
        }
        do throws(MediatorError) {
            let query = try address.parameters(ignoring: address.isOfSite ? ignored : [])
            let page = try page(at: address.path, query, usesRoutes: address.isOfSite)
            if page.reach.admits(caller) { return .page(page) }
            throw MediatorError(.outOfReach, "links or web pages may not open this page of \(type(of: page).module)")
        } catch {
            if address.isOfSite { return .site(text, error) }
            guard error.kind == .notFound, let host = origins.host else { return .nothing(error) }
            return .site("https://\(host)/\(text.dropFirst(origins.scheme.count + 3))", error)
        }
    }

    /// Paths that name a module and its page are looked up before the templates.
    private func page(at path: [String], _ query: [Parameter], usesRoutes: Bool) throws(MediatorError) -> any Page {
        var first: MediatorError?
        if path.count == 2, let pages = pages[path[0]] {
            do { return try readPage(pages, named: path[1], query) } catch { first = error }
        }
        for route in usesRoutes ? routesByDepth[path.count] ?? [] : [] {
            guard let parameters = route.template.match(path) else { continue }
            // A name that is in the path and in the query is a repeated parameter.
            do { return try readPage(route.pages, named: route.template.page, parameters + query) } catch {
                if first?.kind != .invalid { first = error }
            }
        }
        throw first ?? MediatorError(.notFound, "no page of this build has this path")
    }

    /// Writes the address with the scheme of the app.
    ///
    /// - Throws: ``MediatorError/Kind/invalid``.
    func address(of page: some Page) throws(MediatorError) -> String {
        let written = try WrittenPage(page)
        let text = Address.write("\(origins.scheme)://", [written.module, written.page], written.parameters)
        guard let text else { throw Self.unwritable(written) }
        return text
    }

    /// Writes the address on the web site: by the first template that reads as the same page, or else by names.
    ///
    /// - Throws: ``MediatorError/Kind/invalid``; ``MediatorError/Kind/notFound`` if there is no site.
    func siteAddress<P: Page>(of page: P) throws(MediatorError) -> String {
        guard let host = origins.host else { throw MediatorError(.notFound, "the mediator has no web site") }
        let written = try WrittenPage(page)
        for route in routes where route.pages == P.self && route.template.page == written.page {
            guard let (path, query) = route.template.fill(written.parameters),
                let text = Address.write("https://\(host)/", path, query), reads(text, as: written)
            else { continue }
            return text
        }
        let text = Address.write("https://\(host)/", [written.module, written.page], written.parameters)
        guard let text else { throw Self.unwritable(written) }
        return text
    }

    /// Returns whether an address opens this page, and not another page whose path also matches.
    private func reads(_ text: String, as written: WrittenPage) -> Bool {
        guard let address = try? Address(text, at: origins), let query = try? address.parameters(ignoring: ignored),
            let page = try? page(at: address.path, query, usesRoutes: true), let other = try? WrittenPage(page)
        else { return false }
        return other.module == written.module && other.page == written.page && other.isSame(as: written.parameters)
    }

    private static func unwritable(_ written: WrittenPage) -> MediatorError {
        MediatorError(
            .invalid,
            "\(written.module)/\(written.page) is too long for an address, or has a NUL or a name with a slash")
    }
}
