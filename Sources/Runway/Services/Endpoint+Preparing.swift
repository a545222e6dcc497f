extension Endpoint {
    /// Completes the parameters, and checks them with the endpoint's rules and then with `validator`.
    ///
    /// - Parameters:
    ///   - change: Lets interceptors change the completed parameters. Returns `false` if an interceptor vetoed the
    ///     call. The parameters are then not checked.
    ///   - validator: Throws if the parameters are invalid.
    /// - Returns: `false` if the call was vetoed.
    mutating func prepare(
        _ change: (inout Self) throws(NetworkError) -> Bool = { _ in true },
        validator: (Self) throws -> Void = { _ in }
    ) throws(NetworkError) -> Bool {
        do { try complete() } catch { throw .invalidParameters(in: .preparing, error) }
        guard try change(&self) else { return false }
        do {
            try validate()
            try validator(self)
        } catch {
            throw .invalidParameters(in: .validating, error)
        }
        return true
    }

    /// Returns whether the endpoint allows the result of its call to land.
    func allows(_ result: Result<RawData, NetworkError>) -> Bool {
        switch result {
        case .success(let rawData): beforeSuccess(rawData)
        case .failure(let error): beforeFailure(error)
        }
    }
}
