extension NetworkLayer {
    /// Makes one call of an endpoint with an ``OfflinePolicy``, for code that shows a stored call as done.
    ///
    /// ```swift
    /// switch try await network.submit(RenameNote(id: 7, title: "Bread")) {
    /// case .response: status = "Saved"
    /// case .queued(let change): status = "Saved on this device, as \(change.id)"
    /// }
    /// ```
    ///
    /// The function makes the call like `call(_:options:)`. If the call is stored, `call(_:options:)` throws
    /// ``NetworkError/Kind/queued``, and this function returns the stored change.
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
