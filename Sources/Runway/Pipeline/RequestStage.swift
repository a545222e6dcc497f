/// One link of the chain that every request passes on its way to the transport, and every answer on its way back.
///
/// An implementation calls `next` no more than once at a time, and must return or throw soon after its task was
/// cancelled. Where it keeps state, the state is shared by all flights of a layer: it must be safe to use from many
/// tasks. What it decides it writes into the flight with ``Flight/note(_:fields:_:in:)``. A stage below ``StagePlace/hedging``
/// may see two requests of a flight at a time. A stage does not tell delegates, and does not read a streamed body
/// unless that is its job. Every stage says in its documentation which bodies it passes on untouched.
///
/// To replace the wire, write a ``Transport``. To act on the calls of one API only, write an ``Interceptor``.
public protocol RequestStage: Sendable {
    /// Where the stage stands, for the record.
    var step: FlightStep { get }

    /// Whether the stage waits for nothing but `next`. The default is `false`.
    ///
    /// Where all stages and the transport can promise to end in time, a call needs no task of its own to be bounded by its
    /// deadline. Nothing else depends on it: a call that can't, is left behind at its deadline all the same.
    var endsInTime: Bool { get }

    /// Whether the stage runs what is below it in a task of its own for this request, and leaves that behind at the deadline of the
    /// flight and when it is cancelled. The default is `false`.
    ///
    /// Where it does, the call needs no other task to be bounded by its deadline, whatever stands below.
    func detaches(_ request: Request, in flight: Flight) -> Bool

    /// Responds without waiting, if the stage can, before any task is created for the call.
    ///
    /// The pipeline asks its stages from the top until one responds or has to wait. The default is ``ImmediateAnswer/wait``. The
    /// implementation must return at once: it runs on the caller's actor, often the main actor. A stage that passes sees in
    /// ``respond(to:in:next:)`` only the calls for which no stage below it responded here.
    ///
    /// - Parameters:
    ///   - draft: The request, which is made when a stage asks for it.
    ///   - flight: The call that it is part of.
    /// - Throws: A ``NetworkError`` that ends the call.
    func answerImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateAnswer

    /// Passes the request on, or answers in its place.
    ///
    /// - Parameters:
    ///   - request: What the stage above wants sent.
    ///   - flight: The call that it is part of.
    ///   - next: The rest of the pipeline.
    /// - Throws: A ``NetworkError`` that names this step, or what `next` threw.
    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response
}

/// What a stage returns for a call without waiting.
public enum ImmediateAnswer: Sendable {
    /// The response.
    case answer(Response)
    /// A stale response, which lands now while the request is sent. The fresh response lands after it, if it differs.
    case provisional(Response)
    /// The stage has no response; the next stage is asked.
    case pass
    /// The stage has to handle the request in ``RequestStage/respond(to:in:next:)``; no stage below it is asked.
    case wait
}

extension RequestStage {
    /// The stage may wait for something else than the rest of the pipeline.
    public var endsInTime: Bool { false }

    /// What is below runs in the task of the call.
    public func detaches(_ request: Request, in flight: Flight) -> Bool { false }

    /// The stage has to handle the request in ``respond(to:in:next:)``.
    public func answerImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError)
        -> ImmediateAnswer
    {
        .wait
    }
}
