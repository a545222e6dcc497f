import RunwayDemo
import Testing

@Suite(.timeLimit(.minutes(10)))
struct BundlesTourTests {
    @Test func devicesReturnFromABrokenBundle() async throws {
        let report = try await BundlesTour.play()
        #expect(report.problems.isEmpty)
        #expect(report.condemned == 3 && report.returnedTo == 2 && report.installed == 40)
        #expect(report.opened == "https://m.example.com/orders/list")
    }
}
