/// A screen appeared or disappeared.
///
/// Each appearance is followed by one disappearance of the same ``id``, unless the process ends first.
public struct ScreenEvent: Hashable, Sendable {
    /// The name of the screen, which its ``ScreenRule`` or its modifier `.screen("orders")` states.
    public let screen: String
    /// Identifies the scene, that is the window of the app, that shows the screen.
    ///
    /// On UIKit it is the `persistentIdentifier` of the scene's session; in SwiftUI it is a text such as `window 3`,
    /// unique in the process.
    public let scene: String
    /// Identifies the controller or view of the screen. No other one ever has the same number.
    public let id: Int
    /// Whether the screen is visible from now on.
    public let isVisible: Bool
    /// The reason for which the screen appeared or disappeared.
    public let reason: Reason
    /// The time from the last appearance of the screen to this disappearance. Zero if the screen appears now.
    public let visibleTime: Duration
    /// The sum of all times for which the screen was visible since it appeared for the reason ``Reason/opened``.
    public let totalVisibleTime: Duration

    /// The name of the event in a log: `screen appeared` or `screen disappeared`.
    public var name: String { isVisible ? "screen appeared" : "screen disappeared" }

    /// ``visibleTime`` in seconds, rounded down to milliseconds.
    public var seconds: Double {
        let (seconds, attoseconds) = visibleTime.components
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
        /// A view of SwiftUI that is closed also has this reason: SwiftUI calls `onDisappear` in both cases.
        public static let hidden = Reason(name: "hidden")
        /// The scene went to the background.
        public static let background = Reason(name: "background")
        /// The user closed the window, the system disconnected its scene, or more than 64 scenes exist, of which
        /// this one was created first.
        public static let disconnected = Reason(name: "disconnected")
        /// UIKit or SwiftUI never reported that the screen disappeared: its controller was released while it was
        /// visible, or more than 256 screens exist, of which this one appeared first.
        public static let lost = Reason(name: "lost")
    }
}
