/// One stage of the pipeline: receives every request on its way to the transport, and every response on its way back.
///
/// An implementation must follow these rules:
/// - It calls `next` no more than once at a time, and returns or throws soon after its task was cancelled.
/// - All calls of a layer share the stage's state, which must be safe to use from many tasks. A stage after
///   ``FlightStep/hedging`` may receive two requests of a call at the same time.
/// - It records its decisions with ``Flight/note(_:fields:_:in:)``.
/// - It does not notify delegates, and does not read a streamed body unless that is its purpose. Its documentation
///   states which bodies it passes on unchanged.
///
/// ```swift
/// struct TenantStage: RequestStage {
///     let tenant: String
///     var step: FlightStep { .customStage("tenant") }
///
///     func respond(
///         to request: Request, in flight: Flight, next: RequestPipeline.Rest
///     ) async throws(NetworkError) -> Response {
///         var request = request
///         guard let name = HTTPField.Name("X-Tenant") else { return try await next.send(request, in: flight) }
///
///         request.head.headerFields[name] = tenant
///         flight.note("tenant", fields: ["name": tenant], "for \(tenant)", in: step)
///         return try await next.send(request, in: flight)
///     }
/// }
/// ```
///
/// To replace the network connection, write a ``Transport``. To act only on the calls of one endpoint, write an
/// ``Interceptor``.
public protocol RequestStage: Sendable {
    /// Names the stage in records and errors. A stage of the app uses a ``FlightStep/customStage(_:)``.
    ///
    /// A merged response contains the responses to several requests. If one of them is a redirect, merging follows it
    /// only if a later stage has the step ``FlightStep/redirecting``. If the app replaces that stage with one that has
    /// another step, these redirects are not followed, and the call fails with ``NetworkError/Kind/refused``.
    var step: FlightStep { get }

    /// Whether the stage waits for nothing except `next`. The property is read once, when a layer is created. The
    /// default is `false`.
    ///
    /// If all stages and the transport promise to end in time, a call can run in its caller's task. Otherwise the layer
    /// runs the call in a separate task and abandons it at the deadline.
    var endsInTime: Bool { get }

    /// Returns whether the stage runs the lower stages in a separate task for this request, and abandons that task at
    /// the call's deadline and on its cancellation. The default is `false`.
    ///
    /// If the stage does so, the layer need not run the call in a separate task to limit its time.
    func detaches(_ request: Request, in flight: Flight) -> Bool

    /// Returns whether the stage has anything to do for a request or its response. The default is `true`.
    ///
    /// If it returns `false`, the stage is skipped, and ``respond(to:in:next:)`` of the next stage is called. The
    /// pipeline calls this function whenever a request arrives at the stage, also for every attempt and hop. The
    /// implementation must return immediately.
    ///
    /// The pipeline does not call this function before ``respondImmediately(_:in:)``, since no request exists then. A
    /// stage with the default of that function therefore returns ``ImmediateResponse/wait`` for every call, even if it
    /// returns `false` here.
    func handles(_ request: Request, in flight: Flight) -> Bool

    /// Responds without waiting if the stage can, before any task is created for the call.
    ///
    /// The pipeline asks its stages in order, from the caller to the transport, until one responds or has to wait. The
    /// implementation must return immediately: it runs on the caller's actor, often the main actor. If a stage returns
    /// ``ImmediateResponse/pass``, its ``respond(to:in:next:)`` is only called if no later stage responded here.
    ///
    /// The default is ``ImmediateResponse/wait``. A stage with this default above ``FlightStep/reading`` delays
    /// responses in memory: they are delivered after `load` has returned, instead of before.
    ///
    /// - Parameters:
    ///   - draft: The request, which is created when a stage reads it.
    ///   - flight: The call that the request belongs to.
    /// - Throws: A ``NetworkError`` that ends the call.
    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse

    /// Passes the request on, or responds instead.
    ///
    /// - Parameters:
    ///   - request: The request from the previous stage.
    ///   - flight: The call that the request belongs to.
    ///   - next: The rest of the pipeline.
    /// - Throws: A ``NetworkError`` that names this step, or the error of `next`.
    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response
}

/// The result of ``RequestStage/respondImmediately(_:in:)``.
public enum ImmediateResponse: Sendable {
    /// The stage responds with this response.
    case response(Response)
    /// A stale response that is delivered now, while the request is sent. The fresh response is delivered later if it
    /// differs.
    case provisional(Response)
    /// The stage has no response, so the next stage is asked.
    case pass
    /// The stage must handle the request in ``RequestStage/respond(to:in:next:)``, so no later stage is asked.
    case wait
}

extension RequestStage {
    /// `false`, the default: the stage may wait for something other than the rest of the pipeline.
    public var endsInTime: Bool { false }

    /// Returns `false`, the default: lower stages run in the call's task.
    public func detaches(_ request: Request, in flight: Flight) -> Bool { false }

    /// Returns `true`, the default: every request passes the stage.
    public func handles(_ request: Request, in flight: Flight) -> Bool { true }

    /// Returns ``ImmediateResponse/wait``, the default: the stage must handle the request in ``respond(to:in:next:)``.
    public func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError)
        -> ImmediateResponse
    {
        .wait
    }
}
