extension Mediator {
    /// Opens a page.
    ///
    /// - Parameters:
    ///   - page: The page. If no module of this build has it, or a ``Guard`` has switched it off, the web site is shown
    ///     at the same path.
    ///   - presentation: The way to show it, by default that of its ``Screen``.
    ///   - shell: The window to show it in, by default ``shell``.
    @discardableResult public func open<P: Page>(
        _ page: P, as presentation: Presentation? = nil, in shell: (any Shell)? = nil
    ) -> Outcome {
        begin(PageRequest(page: page, presentation: presentation, shell: shell, opensSite: true))
    }

    /// Opens the page at an address. Opening only shows a page: an address calls no function.
    ///
    /// | address | if it can't be opened |
    /// |---|---|
    /// | with the scheme of the app, and this build has no such page | the web site is shown at the same path |
    /// | with the scheme of the app, and a parameter is invalid or `caller` may not open the page | it is refused |
    /// | of the web site, for any of these reasons | the web site shows it |
    ///
    /// If `caller` is ``Reach/pages``, the mediator does not show the web site: it refuses the address, and the web
    /// view that asked loads it.
    ///
    /// - Parameters:
    ///   - address: A URL of at most 4,096 bytes. It must be written as the app writes it: no unknown or repeated
    ///     parameters, no `07`, `+7` or `7.0` for 7. The order of the parameters does not matter.
    ///   - caller: The source of the address: ``Reach/links`` for links, notifications and messages of a server,
    ///     ``Reach/pages`` for a web view; see also ``navigate(to:in:)``.
    ///   - shell: The window to show the page in, by default ``shell``.
    @discardableResult public func open(
        _ address: String, from caller: Reach = .links, in shell: (any Shell)? = nil
    ) -> Outcome {
        let outcome = openNow(address, from: caller, in: shell)
        guard outcome == .refused(.noShell), caller != .pages else { return outcome }
        storedLink = (address, caller)
        return .waiting
    }

    private func openNow(_ address: String, from caller: Reach, in shell: (any Shell)?) -> Outcome {
        let opensSite = caller != .pages
        switch addresses.destination(of: address, for: caller) {
        case .page(let page):
            return begin(PageRequest(page: page, presentation: nil, shell: shell, opensSite: opensSite))
        case .site(let address, let error): return opensSite ? showWeb(address, in: shell) : .refused(error)
        case .nothing(let error): return .refused(error)
        }
    }

    func openStoredLink() {
        guard shell != nil, let link = storedLink else { return }
        storedLink = nil
        open(link.address, from: link.caller)
    }

    /// Makes the screen of a page, to embed it in another screen. Nothing is shown.
    ///
    /// - Returns: The screen, or `nil` if no module of this build has the page, or if a ``Guard`` is shut.
    public func screen<P: Page>(for page: P) -> Screen? {
        func make<M: Module>(_ module: M) -> Screen? {
            guard let page = page as? M.Pages, module.guards(for: page).allSatisfy({ $0.isOpen() }) else { return nil }
            return module.screen(for: page, in: self)
        }
        return module(of: page).flatMap { make($0) }
    }

    /// Reports that the user or the system closed a screen. A caller that waits for its result receives
    /// ``MediatorError/Kind/closed``.
    public func didClose(_ id: ScreenID) { openings.removeValue(forKey: id)?.end(.pageClosed) }

    func begin(_ request: PageRequest) -> Outcome {
        guard let module = module(of: request.page) else {
            return showSite(
                request, after: MediatorError(.notFound, "no module of this build has \(type(of: request.page))"))
        }
        return begin(request, in: module)
    }

    private func begin<M: Module>(_ request: PageRequest, in module: M) -> Outcome {
        guard let page = request.page as? M.Pages else { preconditionFailure("a module is listed by its pages") }
        guard let shell = request.shell ?? shell else { return .refused(.noShell) }
        for condition in module.guards(for: page) where !condition.isOpen() {
            let error = MediatorError(.shut, "the guard \(condition.name) is shut")
            guard let redirection = condition.redirection else { return showSite(request, after: error) }
            guard !request.redirections.contains(condition.name) else { return .refused(error) }
            return wait(request, at: condition.name, redirection)
        }
        module.prefetch(for: page)
        let screen = module.screen(for: page, in: self)
        let id = makeScreenID()
        if let opening = request.opening {
            opening.screen = id
            opening.shell = shell
            openings[id] = opening
        }
        shell.show(screen, id: id, of: page, as: request.presentation ?? screen.presentation)
        return .shown
    }

    /// Shows the page of a guard first. A request that waits at the same guard already is replaced.
    private func wait(_ request: PageRequest, at name: String, _ redirection: Guard.Redirection) -> Outcome {
        var request = request
        request.redirections.insert(name)
        if let other = waiting[name] {
            waiting[name] = WaitingPage(request: request, redirection: other.redirection)
            return .waiting
        }
        let waiter = Waiter<Void>()
        waiting[name] = WaitingPage(request: request, redirection: waiter)
        let opening = Opening { waiter.end(with: .failure($0)) }
        waiter.whenEnded { [weak self] end in
            Task { @MainActor in self?.proceed(at: name, waiter, end, opening) }
        }
        let outcome = begin(
            PageRequest(
                page: redirection(Reply(to: waiter)), presentation: nil, shell: request.shell, opensSite: false,
                redirections: request.redirections, opening: opening))
        guard case .refused = outcome else { return .waiting }
        waiting[name] = nil
        return outcome
    }

    private func proceed(
        at name: String, _ redirection: Waiter<Void>, _ end: Result<Void, MediatorError>, _ opening: Opening
    ) {
        close(opening)
        guard let page = waiting[name], page.redirection === redirection else { return }
        waiting[name] = nil
        var request = page.request
        // The window in which the guard's page was shown.
        request.shell = opening.shell
        guard case .success = end, request.opening?.isEnded != true else { return }
        if case .refused(let error) = begin(request) { request.opening?.end(error) }
    }

    /// Closes the screen of an opening that has ended, unless it is closed already.
    func close(_ opening: Opening) {
        opening.isEnded = true
        if let id = opening.screen, openings.removeValue(forKey: id) != nil { opening.shell?.close(id) }
    }

    private func showSite(_ request: PageRequest, after error: MediatorError) -> Outcome {
        guard request.opensSite, let address = try? addresses.siteAddress(of: request.page) else {
            return .refused(error)
        }
        let outcome = showWeb(address, in: request.shell)
        if case .web = outcome, let module = module(of: request.page) { prefetch(request.page, of: module) }
        return outcome
    }

    func prefetch<M: Module>(_ page: any Page, of module: M) {
        if let page = page as? M.Pages { module.prefetch(for: page) }
    }

    private func showWeb(_ address: String, in shell: (any Shell)?) -> Outcome {
        guard let shell = shell ?? self.shell else { return .refused(.noShell) }
        shell.showWeb(address)
        return .web(address)
    }
}

extension MediatorError {
    static let noShell = MediatorError(.noShell, "the mediator has no shell")
}
