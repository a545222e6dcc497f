extension NetworkLayer {
    /// Makes one call of an endpoint with an ``OfflinePolicy``, and returns normally even if the call is stored to be
    /// sent later. Use it in code that shows a stored call as done.
    ///
    /// ```swift
    /// switch try await network.submit(RenameNote(id: 7, title: "Bread")) {
    /// case .response: status = "Saved"
    /// case .queued(let change): status = "Saved on this device, as \(change.id)"
    /// }
    /// ```
    ///
    /// In contrast, `call(_:options:)` returns only a response, and throws ``NetworkError/Kind/queued`` if the call is
    /// stored.
    ///
    /// - Throws: The error of the call, which is never of the kind `queued`.
    public func submit<E: Endpoint>(
        _ endpoint: E, options: CallOptions = .standard
    ) async throws(NetworkError) -> Submission {
        do {
            return .response(try await call(endpoint, options: options))
        } catch {
            guard let change = error.queuedChange else { throw error }
            return .queued(change)
        }
    }
}
