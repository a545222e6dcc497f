/// The reason why a call of a page was refused or failed. The page receives the kind and the message, and nothing else.
public struct BridgeError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of a refusal or a failure. A command may throw kinds of its own.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name that the page reads, such as `notGranted`.
        public let description: String

        /// Creates a kind of the app's own.
        public init(_ name: String) { description = name }

        /// The origin of the page was not granted the command, or no command has this name.
        public static let notGranted = Kind("notGranted")
        /// The call was made in a frame that is not the main frame.
        public static let foreignFrame = Kind("foreignFrame")
        /// The page has no origin that can be granted a command: it is sandboxed, a `data:` URL or a file.
        public static let opaqueOrigin = Kind("opaqueOrigin")
        /// The command is a function of the device, and the origin is remote; see ``Capability/DeviceAccess``.
        public static let notEmbedded = Kind("notEmbedded")
        /// The command needs a key press or a released pointer in the main frame at most 1 s before the call, which no
        /// other call has used.
        public static let gestureNeeded = Kind("gestureNeeded")
        /// The call is not what `runway.js` sends, or its input is not JSON.
        public static let malformed = Kind("malformed")
        /// The input is larger than ``BridgeLimits/maximumInputByteCount``.
        public static let tooLarge = Kind("tooLarge")
        /// The input is nested more deeply than ``BridgeLimits/maximumDepth``.
        public static let tooDeep = Kind("tooDeep")
        /// The page has ``BridgeLimits/maximumCallsInFlight`` calls in flight.
        public static let busy = Kind("busy")
        /// The page makes more calls than ``BridgeLimits/callsPerSecond``.
        public static let tooFast = Kind("tooFast")
        /// The page tried to open a window, which would have no bridge.
        public static let popup = Kind("popup")
        /// The input does not have the type that the command declares.
        public static let invalidInput = Kind("invalidInput")
        /// The command did not end within ``Command/deadline``.
        public static let deadlineExceeded = Kind("deadlineExceeded")
        /// The page was left, or crashed, or the user signed out, while the call was in flight.
        public static let ended = Kind("ended")
        /// The page cancelled the call.
        public static let cancelled = Kind("cancelled")
        /// The user, or a restriction of the device, does not permit the function of the device.
        public static let notPermitted = Kind("notPermitted")
        /// The device lacks the function, or has no position now.
        public static let unavailable = Kind("unavailable")
        /// The user closed what the command showed, without a result.
        public static let closed = Kind("closed")
        /// The command failed for a reason that the page must not learn: it threw another error than a ``BridgeError``.
        public static let failed = Kind("failed")
    }

    /// The kind.
    public let kind: Kind
    /// A sentence for the developers of the page. It must contain no secret.
    public let message: String

    /// Creates an error that a command throws.
    public init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    /// The kind and the sentence.
    public var description: String { "\(kind): \(message)" }
}
