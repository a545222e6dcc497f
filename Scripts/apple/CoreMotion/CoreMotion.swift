public import AppleFoundation

// Declarations of Core Motion that RunwayBridge uses, as developer.apple.com/documentation/coremotion declares them.

// developer.apple.com: CMAttitude, CMAcceleration, CMDeviceMotion
open class CMAttitude: NSObject {
    open var roll: Double { 0 }
    open var pitch: Double { 0 }
    open var yaw: Double { 0 }
}
public struct CMAcceleration {
    public var x = 0.0
    public var y = 0.0
    public var z = 0.0
}
open class CMDeviceMotion: NSObject {
    open var attitude: CMAttitude { CMAttitude() }
    open var userAcceleration: CMAcceleration { CMAcceleration() }
}

// developer.apple.com: CMDeviceMotionHandler, CMMotionManager
public typealias CMDeviceMotionHandler = (CMDeviceMotion?, (any Error)?) -> Void
open class CMMotionManager: NSObject {
    open var isDeviceMotionAvailable: Bool { false }
    open var deviceMotionUpdateInterval: TimeInterval = 0
    open func startDeviceMotionUpdates(to queue: OperationQueue, withHandler handler: @escaping CMDeviceMotionHandler) {
    }
    open func stopDeviceMotionUpdates() {}
}
