/// A screen appeared or disappeared.
///
/// Each appearance is followed by one disappearance of the same ``id``, unless the process ends first.
public struct ScreenEvent: Hashable, Sendable {
    /// The name of the screen, as its rule or `.screen("orders")` states it.
    public let screen: String
    /// Identifies the window scene: on UIKit the `persistentIdentifier` of its session; in SwiftUI a
    /// text such as `window 3`, unique in the process.
    public let scene: String
    /// Identifies the controller or view while it exists.
    public let id: Int
    /// Whether the screen is visible from now on.
    public let isVisible: Bool
    /// The reason of the change.
    public let why: Reason
    /// The time for which the screen was visible since it last appeared. Zero if it appears now.
    public let visible: Duration
    /// The time for which the screen was visible in all, since ``Reason/opened``.
    public let total: Duration

    /// The name of the event in a log: `screen appeared` or `screen disappeared`.
    public var name: String { isVisible ? "screen appeared" : "screen disappeared" }

    /// The seconds of ``visible``, rounded down to milliseconds.
    public var seconds: Double {
        let (seconds, attoseconds) = visible.components
        return Double(seconds * 1000 + attoseconds / 1_000_000_000_000_000) / 1000
    }

    /// The reason for which a screen appeared or disappeared.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The name, such as `opened`.
        public let name: String

        /// The name.
        public var description: String { name }

        // MARK: Appeared

        /// The screen appeared for the first time, or for the first time after ``closed``.
        public static let opened = Reason(name: "opened")
        /// The screen appeared again: what covered it was closed, or its tab was chosen.
        public static let returned = Reason(name: "returned")
        /// The scene came to the foreground.
        public static let foreground = Reason(name: "foreground")

        // MARK: Disappeared

        /// The screen was popped, dismissed or removed from its container.
        public static let closed = Reason(name: "closed")
        /// Another screen covers it: one was pushed, presented over the whole window, or its tab chosen.
        ///
        /// Views of SwiftUI also have this reason when they are closed, since `onDisappear` does not distinguish.
        public static let hidden = Reason(name: "hidden")
        /// The scene went to the background.
        public static let background = Reason(name: "background")
        /// The scene was closed, was disconnected by the system, or is the oldest of more than 64.
        public static let disconnected = Reason(name: "disconnected")
        /// The disappearance was never reported: the controller was released, or it is the oldest of too many screens.
        public static let lost = Reason(name: "lost")
    }
}
