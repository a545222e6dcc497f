import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Controls Multipath TCP. The type has its own file, so that `Scripts/apple.sh` can compile it for iOS separately.
enum MultipathHandover {
    /// Sets whether the connections of a session may move from Wi-Fi to the mobile network. Does nothing except on iOS:
    /// visionOS has the property, but its devices have no mobile network.
    static func set(_ isAllowed: Bool, in configuration: URLSessionConfiguration) {
        #if os(iOS)
            configuration.multipathServiceType = isAllowed ? .handover : .none
        #endif
    }
}
