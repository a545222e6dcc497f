extension RequestPipeline.Rest {
    /// Sends a request, and returns when the deadline of the flight has passed or the task is cancelled, at the latest.
    ///
    /// Unless what is below ends in time by itself, it runs in a task of its own, which is then cancelled and not waited for.
    ///
    /// - Parameter timedOut: Returns the outcome of a call whose deadline has passed.
    func sendDetached(
        _ request: Request, in flight: Flight,
        timedOut: @escaping @Sendable () -> Result<Response, NetworkError>
    ) async throws(NetworkError) -> Response {
        if endsInTime(request, in: flight) { return try await send(request, in: flight) }
        let race = Race<Result<Response, NetworkError>>()
        let result = await race.run(onCancel: .failure(.cancelled(in: .deadline))) {
            () async -> Result<Response, NetworkError> in
            do throws(NetworkError) {
                return .success(
                    try await flight.withDeadlineHandler { () async throws(NetworkError) in
                        try await send(request, in: flight)
                    } onDeadline: {
                        race.finish(timedOut())
                    })
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
