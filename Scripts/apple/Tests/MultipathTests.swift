import AppleFoundation
import Testing

@testable import PhoneStatus

/// Multipath TCP, which only iOS has: its code is compiled as iOS has it, in a module of its own.
struct MultipathTests {
    @Test func phoneLetsConnectionsMoveToTheMobileNetwork() {
        let configuration = URLSessionConfiguration.ephemeral
        #expect(configuration.multipathServiceType == .none)
        MultipathHandover.allow(in: configuration)
        #expect(configuration.multipathServiceType == .handover)
    }
}
