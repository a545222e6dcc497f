import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Multipath TCP, in a file of its own, so that the code of iOS can run over the fakes.
enum MultipathHandover {
    /// Lets the connections of a session move from Wi-Fi to the mobile network. Does nothing except on iOS.
    static func allow(in configuration: URLSessionConfiguration) {
        #if os(iOS)
            configuration.multipathServiceType = .handover
        #endif
    }
}
