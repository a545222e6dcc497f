public import Foundation

// developer.apple.com: ProcessInfo.isLowPowerModeEnabled, NotificationCenter.notifications(named:object:)

extension ProcessInfo {
    public var isLowPowerModeEnabled: Bool { false }
}

extension NSNotification.Name {
    public static var NSProcessInfoPowerStateDidChange: NSNotification.Name { .init("NSProcessInfoPowerStateDidChange") }
}

extension NotificationCenter {
    public func notifications(
        named name: Notification.Name, object: (any AnyObject & Sendable)? = nil
    ) -> AsyncStream<Void> { AsyncStream { $0.finish() } }
}
