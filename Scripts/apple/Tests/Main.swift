import AppleFoundation
import Synchronization
import Testing

@testable import TransportSuites

@main
struct Main {
    static func main() async {
        for host in ["127.0.0.1", "localhost"] { FakeNetwork.serve(host, FakeWire.perform) }
        TransportUnderTest.trustInSystem.withLock { $0 = FakeSystem.trust }
        await Testing.__swiftPMEntryPoint() as Never
    }
}
