import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Multipath TCP, in a file of its own, so that the code of iOS can run over the fakes.
enum MultipathHandover {
    /// Sets whether the connections of a session may move from Wi-Fi to the mobile network. Does nothing except on iOS:
    /// visionOS has the property, too, but its devices have no mobile network.
    static func set(_ isAllowed: Bool, in configuration: URLSessionConfiguration) {
        #if os(iOS)
            configuration.multipathServiceType = isAllowed ? .handover : .none
        #endif
    }
}
