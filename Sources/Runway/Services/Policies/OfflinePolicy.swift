/// Determines whether a call that changes data is stored and sent later, if there is no network or the server is down.
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
/// The policy has an effect only in a layer with a ``ChangeQueue``, and only on calls with an unsafe method (RFC 9110
/// §9.2.1), a body that is whole in memory, and a response that is not streamed. Every such call has an
/// `Idempotency-Key`, which all its attempts share, even in later launches. The server must support keys, because a
/// call whose response was lost is sent again.
///
/// A call is stored before it is sent, so that it is sent later if the process ends during the call. It is removed when
/// the call has ended. In the following cases it stays stored, and ``NetworkLayer/submit(_:options:)`` returns
/// ``Submission/queued(_:)``:
/// - An earlier change of the account waits in the queue, and the call must not overtake it. Earlier changes that were
///   refused or are held count only if they change an object that this call changes, too
///   (``Endpoint/offlineSubjects``).
/// - The host could not be reached, the connection was lost, or the deadline passed (``NetworkError/Kind/noNetwork``,
///   ``NetworkError/Kind/timedOut``), or the circuit of the endpoint is open (``NetworkError/Kind/unavailable``).
/// - The server, or the service in its envelope, asks for fewer requests, or the status is 408 or 425.
/// - The server failed with a status of 500 or more, except 501 and 505, or its response can't be read
///   (``NetworkError/Kind/invalidResponse``). It may have executed the call.
/// - The server redirected the call to a request with another method, as 303 does, and that request failed. The server
///   has executed the call.
/// - The call was sent again within its retry policy, and then refused. The first attempt, whose response was lost, may
///   have taken effect.
///
/// If the endpoint is `Decodable`, its properties are stored, too. ``QueuedChange/call(as:)`` restores them.
///
/// Every other call ends as it would without a queue. If a stage of the app comes before the offline queue's stage and
/// does not end in time (``RequestStage/endsInTime``), a call whose deadline passes fails and is not stored.
public struct OfflinePolicy: Sendable, Hashable {
    /// Whether calls are stored while they can't be sent.
    public let isQueued: Bool

    /// Calls fail while they can't be sent. This is the default of every endpoint.
    public static let off = OfflinePolicy(isQueued: false)
    /// Calls are stored while they can't be sent, and are sent later.
    public static let queued = OfflinePolicy(isQueued: true)
}
