extension Mediator {
    /// Returns a sentence for each mistake in the list of modules; empty if there is none.
    ///
    /// Call it at launch in debug builds, and in a test:
    ///
    /// ```swift
    /// assert(mediator.check().isEmpty)
    /// ```
    ///
    /// It reports:
    /// - two modules with the same name or the same pages, and two services of the same type
    /// - names of modules that can't be in an address
    /// - modules and services that a module declares in ``Module/uses`` and that are not listed
    /// - paths (``Module/paths``) that are malformed, that name a page or a parameter that does not exist, or that also
    ///   fit an address of another page
    public func check() -> [String] {
        modulesTwice + names + servicesTwice + unlisted + modules.flatMap { invalidPaths(of: $0) } + overlappingPaths
    }

    private var withPages: [any Module] { modules.filter { $0.pages != Never.self } }

    private var modulesTwice: [String] {
        let types = repeated(withPages.map { "\($0.pages)" }).map { "Two modules have the pages \($0)." }
        let names = Dictionary(grouping: withPages.map(\.pages)) { $0.module }
        return types
            + names.filter { Set($0.value.map { ObjectIdentifier($0) }).count > 1 }.keys.sorted().map {
                "Two modules have the name \($0)."
            }
    }

    private var names: [String] {
        withPages.map { $0.pages.module }.filter { name in
            guard let first = name.utf8.first, name.utf8.count <= 63 else { return true }
            let isSmall = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
            return !isSmall(first)
                || !name.utf8.allSatisfy {
                    isSmall($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
                }
        }.map { "The name \"\($0)\" of a module is not made of small letters, digits and hyphens." }
    }

    private var servicesTwice: [String] {
        repeated(modules.flatMap(\.services).map { "\($0.type)" }).map { "Two modules supply the service \($0)." }
    }

    private var unlisted: [String] {
        let services = Set(modules.flatMap(\.services).map { ObjectIdentifier($0.type) })
        return modules.flatMap { module in
            module.uses.compactMap { type in
                if let pages = type as? any Page.Type {
                    if withPages.contains(where: { $0.pages == pages }) { return nil }
                    return "\(Swift.type(of: module)) uses \(pages), whose module is not listed."
                }
                if services.contains(ObjectIdentifier(type)) { return nil }
                return "\(Swift.type(of: module)) uses the service \(type), which no module supplies."
            }
        }
    }

    private func invalidPaths(of module: some Module) -> [String] {
        module.paths.compactMap { page, text -> String? in
            do throws(PathTemplate.Invalid) {
                let template = try PathTemplate(text, for: page)
                return findProblem(module.pages, named: page, parameters: template.parameters).map {
                    "The path \(text): \(module.pages) \($0)."
                }
            } catch {
                return "The path \(text) of \(module.pages) \(error.reason)."
            }
        }
    }

    /// A path may fit an address that names a module and a page: such an address opens the page that it names.
    private var overlappingPaths: [String] {
        let routes = addresses.routes
        return routes.indices.flatMap { index in
            routes[..<index].filter { $0.template.overlaps(routes[index].template) }.map {
                "The paths \($0.template.text) and \(routes[index].template.text) fit the same addresses."
            }
        }
    }

    /// Returns the elements that occur more than once, in alphabetical order.
    private func repeated(_ names: [String]) -> [String] {
        Dictionary(grouping: names) { $0 }.filter { $0.value.count > 1 }.keys.sorted()
    }
}
