/// Whether a call that changes something is stored and sent later, if there is no network or the server is down.
///
/// ```swift
/// struct RenameNote: Endpoint, Decodable {
///     static let service = Notes.self
///     static let method = HTTPRequest.Method.put
///     static let offline = OfflinePolicy.queued
///
///     var path: EndpointPath { "notes/\(id)" }
///     var offlineSubjects: [String] { ["note \(id)"] }
///     @Unencoded var id: Int
///     var title: String
/// }
/// ```
///
/// The policy has an effect only in a layer with a ``ChangeQueue``, and only on calls whose method is not safe (RFC
/// 9110 §9.2.1), whose body is whole in memory, and whose response is not streamed. Every such call has an
/// `Idempotency-Key`, which all its attempts share, now and later: the server has to support it, since a call whose
/// response was lost is sent again.
///
/// A call is stored before it is sent, so that it is sent later if the process ends meanwhile, and is removed when it
/// has ended. It stays stored, and ``NetworkLayer/submit(_:options:)`` returns ``Submission/queued(_:)``, if
/// - an earlier change of its account waits in the queue, which it must not overtake; earlier changes that were refused
///   or are held count only if they have a common subject (``Endpoint/offlineSubjects``),
/// - the host could not be reached, the connection was lost, or the deadline passed (``NetworkError/Kind/noNetwork``,
///   ``NetworkError/Kind/timedOut``), or the circuit of the endpoint is open (``NetworkError/Kind/unavailable``),
/// - the server, or the service in its envelope, asks for fewer requests, or the status is 408 or 425,
/// - the server failed, with a status of 500 or more besides 501 and 505, or its response can't be read
///   (``NetworkError/Kind/invalidResponse``): it may have executed the call,
/// - the server redirected the call to a request by another method, as 303 does, and that one failed: it has executed
///   the call, or
/// - the call was sent again within its retry policy, and then refused: the first attempt, whose response was lost, may
///   have had its effect.
///
/// The properties of an endpoint that is `Decodable` are stored, too, and restored by ``QueuedChange/call(as:)``.
///
/// Every other call ends as it would without a queue. Below a stage of the app's own that does not end in time
/// (``RequestStage/endsInTime``), a call whose deadline passes fails, and is not stored.
public struct OfflinePolicy: Sendable, Hashable {
    /// Whether calls are stored while they can't be sent.
    public let isQueued: Bool

    /// Calls fail while they can't be sent. This is the default of every endpoint.
    public static let off = OfflinePolicy(isQueued: false)
    /// Calls are stored while they can't be sent, and are sent later.
    public static let queued = OfflinePolicy(isQueued: true)
}
