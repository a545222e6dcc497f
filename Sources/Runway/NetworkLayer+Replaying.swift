import HTTPTypes
import RunwayFormats

package import struct Foundation.UUID

extension NetworkLayer {
    /// The functions that the offline queue uses. They have no effect after the layer is released.
    package var changeLink: ChangeLink {
        ChangeLink(clock: clock, status: { [connectivity] in connectivity.current }, statuses: statuses) {
            [services] endpoint in
            func current<E: Endpoint>(_ endpoint: E.Type) -> (account: String?, environment: ServiceEnvironment) {
                let settings = services.configuration(of: E.Service.self).settings
                return (settings.account, settings.environment)
            }
            return current(endpoint)
        } replay: { [weak self] change, id throws(NetworkError) in
            guard let self else { throw .cancelled(in: .offlineQueue) }
            return try await replay(change, id, as: change.endpoint)
        } assemble: { [weak self] endpoint throws(NetworkError) in
            guard let self else { throw .cancelled(in: .offlineQueue) }
            return try change(of: endpoint)
        } report: { [changeReports] change, result, isOver in
            await changeReports.report(change, result, isOver: isOver)
        } forget: { [changeReports] id in
            changeReports.forget(id)
        } beginGrace: { [weak self] name in
            self?.beginGrace(name)
        }
    }

    /// Returns whether the layer can store calls of an endpoint and send them later. Returns `true` if there is no
    /// offline queue, because calls are then sent at once or fail.
    package func canStoreCalls(of endpoint: any Endpoint.Type) -> Bool { offlineQueue?.accepts(endpoint) ?? true }

    /// Delays the stored changes of the account that is signed in to a service; see ``ChangeQueue``.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - owner: Identifies the caller.
    ///   - limit: The maximum wait, counted from the moment at which the changes could be sent. `nil` ends the owner's
    ///     delay for every account.
    package func delayChanges<Service: APIService>(of service: Service.Type, owner: UUID, upTo limit: Duration?) {
        let settings = settings(of: service)
        offlineQueue?.delayChanges(
            of: service, in: settings.environment, for: settings.account, owner: owner, upTo: limit)
    }

    /// Sends a stored change through all stages, as a new call with its own record.
    ///
    /// - Throws: The error of the call; ``NetworkError/Kind/cancelled`` if the change was made for another account or
    ///   in another environment than the current one.
    private func replay<E: Endpoint>(
        _ change: UnsentChange, _ id: UUID, as endpoint: E.Type
    ) async throws(NetworkError) -> RawData {
        var options = CallOptions(cache: .off, retry: .off, priority: .low, authorization: change.authorization)
        options.replayedChange = id
        let flight = makeFlight(E.self, options)
        flight.note(QueueingDecision.replaying(change: id))
        do throws(NetworkError) {
            // The account of a call never changes, so this comparison holds during the whole call.
            guard flight.account == change.account, flight.environment == change.environment else {
                throw NetworkError(
                    .cancelled, in: .offlineQueue, "The account that made the change is not signed in.",
                    sending: .notSent)
            }
            let response = try await send(request(of: change, E.self, in: flight), in: flight)
            try flight.checkSession(in: .checking)
            if var error = response.refusal {
                // Both statuses may mean that the server has already executed the change.
                if error.status == .conflict || error.status == .unprocessableContent { invalidate(change) }
                error.retryAfter = error.retryAfter ?? response.retryAfter(now: clock.date)
                throw error
            }
            invalidate(change)
            var rawData = try response.wholeBody(in: .checking)
            rawData.source = response.source
            flight.recorder.setSource(response.source)
            flight.finish(.succeeded)
            return rawData
        } catch {
            throw flight.finish(failing: error)
        }
    }

    private func invalidate(_ change: UnsentChange) { for scope in change.invalidates { cache.clear(scope) } }

    private func request<E: Endpoint>(
        of change: UnsentChange, _ endpoint: E.Type, in flight: Flight
    ) throws(NetworkError) -> Request {
        let baseURL = try flight.configuration.baseURL.get()
        var head = baseURL.head
        head.method = change.method
        head.path = baseURL.pathPrefix + change.target
        try head.headerFields.set(flight.configuration.settings.commonHeaders)
        for name in Set(change.headerFields.map(\.name)) {
            head.headerFields[fields: name] = change.headerFields[fields: name]
        }
        head.headerFields[.idempotencyKey] = change.keyField
        return Request(
            head: head, body: change.body.isEmpty ? .none : .bytes(change.body), delivery: flight.wholeDelivery)
    }

    /// Returns the change that the offline queue would store if the call were made now.
    ///
    /// - Throws: ``NetworkError/Kind/invalidParameters`` if the call can't be made or can't be stored.
    private func change<E: Endpoint>(of endpoint: E) throws(NetworkError) -> UnsentChange {
        // Nothing is sent, so this call gets no outcome and no record.
        let flight = makeFlight(E.self, .standard)
        let prepared = try prepared(endpoint)
        let request = try assemble(prepared, delivery: flight.wholeDelivery, in: flight)
        if case .stream = request.body {
            throw NetworkError(.invalidParameters, in: .offlineQueue, "A body that is a stream can't be stored.")
        }
        do throws(Unstorable) {
            return try UnsentChange(request, in: flight)
        } catch {
            throw NetworkError(
                .invalidParameters, in: .offlineQueue, "The call can't be stored: \(error.reason).")
        }
    }
}
