extension Mediator {
    /// Opens a page, waits for its result, and closes the page.
    ///
    /// ```swift
    /// let address = try await mediator.result(of: AccountPage.pickAddress)
    /// let other = try await mediator.result(of: { AccountPage.pickNear(city: "Berlin", $0) })
    /// ```
    ///
    /// Cancelling the task closes the page. The web site is not shown instead of the page, since it can't return a
    /// result.
    ///
    /// - Parameters:
    ///   - page: A case with one parameter, a ``Reply``; or a closure that makes the page of its reply.
    ///   - presentation: The way to show it, by default that of its ``Screen``.
    ///   - shell: The window to show it in, by default ``shell``.
    /// - Throws: ``MediatorError/Kind/closed`` if the page is closed without a result, ``MediatorError/Kind/cancelled``
    ///   if the task is cancelled, or the error with which the page could not be opened.
    public func result<P: Page, Value: Sendable>(
        of page: (Reply<Value>) -> P, as presentation: Presentation? = nil,
        in shell: consuming (any Shell)? = nil
    ) async throws(MediatorError) -> Value {
        guard !Task.isCancelled else { throw .cancelled }
        let waiter = Waiter<Value>()
        let opening = Opening { waiter.end(with: .failure($0)) }
        // A window that is closed releases its shell, its screens and so their replies: the wait must not hold it.
        ask(page, waiter, opening, presentation, consume shell)
        let end = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                waiter.whenEnded { continuation.resume(returning: $0) }
            }
        } onCancel: {
            waiter.end(with: .failure(.cancelled))
        }
        close(opening)
        return try end.get()
    }

    /// Opens the page in a function of its own, at whose return no copy of the reply is left but that of the screen.
    private func ask<P: Page, Value: Sendable>(
        _ page: (Reply<Value>) -> P, _ waiter: Waiter<Value>, _ opening: Opening, _ presentation: Presentation?,
        _ shell: (any Shell)?
    ) {
        let page = page(Reply(to: waiter))
        let request = PageRequest(
            page: page, presentation: presentation, shell: shell, opensSite: false, opening: opening)
        withExtendedLifetime(request) {
            if case .refused(let error) = begin(request) { opening.end(error) }
        }
    }
}

extension MediatorError {
    static let cancelled = MediatorError(.cancelled, "the task that waited for the page was cancelled")
}
