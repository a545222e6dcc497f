/// Sees every request on its way to the transport, and every response on its way back: one link of the pipeline.
///
/// An implementation calls `next` no more than once at a time, and must return or throw soon after its task was
/// cancelled. All flights of a layer share its state, which must be safe to use from many tasks. It records its
/// decisions with ``Flight/note(_:fields:_:in:)``. A stage below ``FlightStep/hedging`` may see two requests of a
/// flight at a time. A stage does not notify delegates, and does not read a streamed body unless that is its purpose.
/// Every stage documents which bodies it passes on unchanged.
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
/// To replace the wire, write a ``Transport``. To act on the calls of one API only, write an ``Interceptor``.
public protocol RequestStage: Sendable {
    /// Names the stage in records and errors. A stage of the app's own has a ``FlightStep/customStage(_:)``.
    ///
    /// Merging looks for the stage whose step is ``FlightStep/redirecting``: if there is one below, merging follows the
    /// redirects of the responses that it takes from an envelope, by Runway's rules. If an app replaces the redirecting
    /// stage by its own stage with another step, these redirects are not followed: the call fails with
    /// ``NetworkError/Kind/refused``.
    var step: FlightStep { get }

    /// Whether the stage waits for nothing but `next`. It is read once, when a layer is made. The default is `false`.
    ///
    /// If all stages and the transport promise to end in time, a call needs no task of its own to be limited by its
    /// deadline. Nothing else depends on it: the layer abandons any other call at its deadline nevertheless.
    var endsInTime: Bool { get }

    /// Returns whether the stage runs the lower stages in a task of its own for this request, and abandons that task at
    /// the deadline of the flight and when the flight is cancelled. The default is `false`.
    ///
    /// If it does, the call needs no other task to be bounded by its deadline, whatever is below.
    func detaches(_ request: Request, in flight: Flight) -> Bool

    /// Whether the stage has something to do for a request or its response. The default is `true`.
    ///
    /// A stage that does not handle a request is skipped: ``respond(to:in:next:)`` of the next stage is called instead.
    /// The pipeline asks whenever a request arrives at the stage, anew for every attempt and hop, and the
    /// implementation must return immediately.
    ///
    /// The pipeline does not ask before it calls ``respondImmediately(_:in:)``, since no request exists then: a stage
    /// that returns `false` here and keeps the default of that function still returns ``ImmediateResponse/wait`` for
    /// every call.
    func handles(_ request: Request, in flight: Flight) -> Bool

    /// Responds without waiting, if the stage can, before any task is created for the call.
    ///
    /// The pipeline asks its stages from the top until one responds or has to wait. The default is
    /// ``ImmediateResponse/wait``: above ``FlightStep/reading``, a stage with the default makes responses in memory
    /// land after `load` has returned, instead of before. The implementation must return immediately: it runs on the
    /// caller's actor, often the main actor. A stage that passes sees in ``respond(to:in:next:)`` only the calls for
    /// which no stage below it responded here.
    ///
    /// - Parameters:
    ///   - draft: The request, which is made when a stage reads it.
    ///   - flight: The call that it is part of.
    /// - Throws: A ``NetworkError`` that ends the call.
    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse

    /// Passes the request on, or responds instead.
    ///
    /// - Parameters:
    ///   - request: The request from the stage above.
    ///   - flight: The call that it is part of.
    ///   - next: The rest of the pipeline.
    /// - Throws: A ``NetworkError`` that names this step, or the error of `next`.
    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response
}

/// The result of a stage that does not wait.
public enum ImmediateResponse: Sendable {
    /// The response.
    case response(Response)
    /// A stale response, which lands now while the request is sent. The fresh response lands after it, if it differs.
    case provisional(Response)
    /// The stage has no response; the next stage is asked.
    case pass
    /// The stage has to handle the request in ``RequestStage/respond(to:in:next:)``; no stage below it is asked.
    case wait
}

extension RequestStage {
    /// The stage may wait for something other than the rest of the pipeline.
    public var endsInTime: Bool { false }

    /// `false`: lower stages run in the call's task.
    public func detaches(_ request: Request, in flight: Flight) -> Bool { false }

    /// Every request passes the stage.
    public func handles(_ request: Request, in flight: Flight) -> Bool { true }

    /// The stage has to handle the request in ``respond(to:in:next:)``.
    public func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError)
        -> ImmediateResponse
    {
        .wait
    }
}
