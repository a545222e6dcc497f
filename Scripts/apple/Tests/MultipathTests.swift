import AppleFoundation
import Testing

@testable import PhoneStatus

/// Multipath TCP, which only iOS has: its code is compiled as iOS has it, in a module of its own.
struct MultipathTests {
    @Test(arguments: [false, true]) func phoneMovesConnectionsToTheMobileNetworkIfAllowed(isAllowed: Bool) {
        let configuration = URLSessionConfiguration.ephemeral
        #expect(configuration.multipathServiceType == .none)
        MultipathHandover.set(isAllowed, in: configuration)
        #expect(configuration.multipathServiceType == (isAllowed ? .handover : .none))
    }
}
