public import AppleFoundation

// Declarations of Core Location that RunwayBridge uses, as developer.apple.com/documentation/corelocation declares them.

// developer.apple.com: CLLocationCoordinate2D, CLLocation
public struct CLLocationCoordinate2D: Sendable {
    public var latitude = 0.0
    public var longitude = 0.0
}
open class CLLocation: NSObject, @unchecked Sendable {
    open var coordinate: CLLocationCoordinate2D { CLLocationCoordinate2D() }
    open var horizontalAccuracy: Double { 0 }
}

// developer.apple.com: CLServiceSession, CLServiceSession.AuthorizationRequirement
public final class CLServiceSession: NSObject, Sendable {
    public enum AuthorizationRequirement: Int, Sendable { case none, whenInUse, always }
    public init(authorization: AuthorizationRequirement) {}
    public func invalidate() {}
}

// developer.apple.com: CLLocationUpdate
public struct CLLocationUpdate: Sendable {
    public let location: CLLocation?
    public let authorizationDenied: Bool
    public let authorizationDeniedGlobally: Bool
    public let authorizationRestricted: Bool

    public static func liveUpdates() -> Updates { Updates() }

    public struct Updates: AsyncSequence, Sendable {
        public struct AsyncIterator: AsyncIteratorProtocol {
            public mutating func next() async throws -> CLLocationUpdate? { nil }
        }
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator() }
    }
}
