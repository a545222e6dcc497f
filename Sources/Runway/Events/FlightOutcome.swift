public import struct Foundation.UUID

/// The result of a call. Every call has exactly one outcome.
///
/// Compare ``kind-swift.property`` or switch over it. A switch needs a `default`, since later versions may add kinds:
///
/// ```swift
/// switch record.outcome.kind {
/// case .failed: print(record.outcome.error?.description ?? "")
/// case .ignored: print("call \(record.outcome.runningFlight?.description ?? "") was in flight")
/// default: print(record.outcome.name)
/// }
/// ```
public struct FlightOutcome: Sendable, CustomStringConvertible {
    /// The result of a call without its details, such as the error.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        private enum Code: String {
            case succeeded, failed, cancelled, replaced, joined, ignored, vetoed, absorbed, queued
        }

        private let code: Code

        private init(_ code: Code) { self.code = code }

        /// The call ended with a response, which was delivered.
        public static let succeeded = Kind(.succeeded)
        /// The call ended with an error, which was delivered; see ``FlightOutcome/error``.
        public static let failed = Kind(.failed)
        /// The call was cancelled, by its caller or because its manager was released.
        public static let cancelled = Kind(.cancelled)
        /// A later call of the manager replaced the call.
        public static let replaced = Kind(.replaced)
        /// The call joined an identical call of its manager that was in flight, ``FlightOutcome/runningFlight``. Both
        /// calls end with the same result; see ``OverlapPolicy/joinOrReplace``.
        public static let joined = Kind(.joined)
        /// The call was not made, because another call of its manager was in flight: ``FlightOutcome/runningFlight``.
        /// See ``OverlapPolicy/ignoreNew``.
        public static let ignored = Kind(.ignored)
        /// An interceptor vetoed the start of the call, or an interceptor or the endpoint vetoed the delivery of its
        /// result.
        public static let vetoed = Kind(.vetoed)
        /// The service responded with an error that business code need not handle: ``FlightOutcome/serviceError``.
        public static let absorbed = Kind(.absorbed)
        /// The call is stored as ``FlightOutcome/queuedChange`` and is sent later; see ``OfflinePolicy``. The call that
        /// sends it later has its own outcome.
        public static let queued = Kind(.queued)

        /// The kind in one word. It does not change between releases.
        public var name: String { code.rawValue }

        /// The kind in one word, equal to ``name``.
        public var description: String { name }
    }

    /// The details of an outcome. The enum is indirect because errors are large and most calls have no error.
    private indirect enum Detail {
        case error(NetworkError)
        case running(FlightID)
        case service(ServiceError)
        case change(UUID)
    }

    /// The kind of the outcome, without its details.
    public let kind: Kind
    private let detail: Detail?

    /// The error with which the call ended if the outcome is ``Kind/failed``; otherwise `nil`.
    public var error: NetworkError? { if case .error(let error) = detail { error } else { nil } }
    /// The call that was already in flight if the outcome is ``Kind/joined`` or ``Kind/ignored``; otherwise `nil`.
    public var runningFlight: FlightID? { if case .running(let flight) = detail { flight } else { nil } }
    /// The error of the service if the outcome is ``Kind/absorbed``; otherwise `nil`.
    public var serviceError: ServiceError? { if case .service(let error) = detail { error } else { nil } }
    /// The identifier of the stored change if the outcome is ``Kind/queued``; otherwise `nil`.
    public var queuedChange: UUID? { if case .change(let change) = detail { change } else { nil } }

    private init(_ kind: Kind, _ detail: Detail? = nil) { (self.kind, self.detail) = (kind, detail) }

    /// The outcome of a call that ended with a response.
    public static let succeeded = FlightOutcome(.succeeded)
    /// The outcome of a call that was cancelled.
    public static let cancelled = FlightOutcome(.cancelled)
    /// The outcome of a call that a later call of its manager replaced.
    public static let replaced = FlightOutcome(.replaced)
    /// The outcome of a call if its start, or the delivery of its result, was vetoed.
    public static let vetoed = FlightOutcome(.vetoed)

    /// The outcome of a call that ended with an error.
    public static func failed(_ error: NetworkError) -> FlightOutcome { FlightOutcome(.failed, .error(error)) }

    /// The outcome of a call that joined the identical call `running`.
    public static func joined(running: FlightID) -> FlightOutcome { FlightOutcome(.joined, .running(running)) }

    /// The outcome of a call that was not made because the call `running` was in flight.
    public static func ignored(running: FlightID) -> FlightOutcome { FlightOutcome(.ignored, .running(running)) }

    /// The outcome of a call whose service responded with an error that business code need not handle.
    public static func absorbed(_ error: ServiceError) -> FlightOutcome { FlightOutcome(.absorbed, .service(error)) }

    /// The outcome of a call that is stored to be sent later.
    public static func queued(as change: UUID) -> FlightOutcome { FlightOutcome(.queued, .change(change)) }

    /// The outcome in one word, for metrics and lists. It does not change between releases.
    public var name: String { kind.name }

    /// The outcome in one word, equal to ``name``.
    public var description: String { name }
}

/// The number of a call. Each layer counts its calls from 1.
public struct FlightID: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The number of the call, at least 1.
    public let number: UInt64

    /// Receives the numbers of calls as they begin.
    ///
    /// A struct, since Swift 6.3 with optimisation crashes where another module sets a task-local value whose type is a
    /// function.
    package struct Observer: Sendable {
        let note: @Sendable (FlightID) -> Void

        /// Creates an observer that passes each number to `note`.
        package init(_ note: @escaping @Sendable (FlightID) -> Void) { self.note = note }
    }

    /// Observes the calls that the current task and its children make; `nil` by default. Code that starts other code's
    /// calls records with it which calls belong to it.
    @TaskLocal package static var observer: Observer?

    /// The number with a leading `#`.
    public var description: String { "#\(number)" }

    /// Returns whether `lhs` was made before `rhs`.
    public static func < (lhs: FlightID, rhs: FlightID) -> Bool { lhs.number < rhs.number }
}
