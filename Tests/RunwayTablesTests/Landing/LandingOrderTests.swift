import Foundation
import GRDB
import Testing

@testable import RunwayTables

struct LandingOrderTests {
    private func places(_ count: Int, _ table: String) -> [LandingOrder.Place] {
        let file = ScratchFolder().file
        return (0..<count).map { LandingOrder.Place(file: file, table: table, values: [$0.databaseValue]) }
    }

    @Test func aLargeResponseIsRememberedWhole() {
        let (order, large) = (LandingOrder(), places(12_000, "large"))
        order.landed(2, at: large)
        #expect(large.allSatisfy { order.isNewer($0, than: 1) })
        let small = places(10, "small")
        order.landed(3, at: small)
        #expect((large + small).allSatisfy { order.isNewer($0, than: 1) })
        // Newer ones take its place.
        order.landed(4, at: places(13_000, "larger"))
        #expect(!large.contains { order.isNewer($0, than: 1) })
    }
}
