import Foundation
import Testing

@testable import RunwayScripts

struct PatchPointTests {
    private struct Broken: Error {}

    private static let rows = PatchPoint("orders.rows", version: 3) { (listing: Listing) in
        listing.items.map { Row(title: $0.name) }
    }

    @Test func unpatchedPointCallsTheNativeFunction() {
        let listing = Listing(items: [Listing.Item(name: "Loft")])
        #expect(Self.rows(listing) == [Row(title: "Loft")])
    }

    @Test func errorOfTheNativeFunctionIsThrown() {
        let point = PatchPoint("fails", version: 1) { (_: Int) throws(Broken) -> Int in throw Broken() }
        #expect(throws: Broken.self) { try point(1) }
    }

    @Test func patchReplacesTheResult() {
        let point = PatchPoint("double", version: 1) { (number: Int) in 2 * number }
        point.slot.patch = Patch { arguments in
            arguments == [Array("4".utf8)] ? Array("9".utf8) : nil
        } fail: { _, _ in
        }
        #expect(point(4) == 9)
        #expect(point(5) == 10)
        point.slot.patch = nil
        #expect(point(4) == 8)
    }

    @Test func valueOfAnotherTypeHasTheNativeResult() async {
        let point = PatchPoint("double", version: 1) { (number: Int) in 2 * number }
        await confirmation { failed in
            point.slot.patch = Patch { _ in
                Array(#""nine""#.utf8)
            } fail: { error, isOfScript in
                #expect(isOfScript && error is DecodingError)
                failed()
            }
            #expect(point(4) == 8)
        }
    }

    @Test func unencodableInputIsNotCountedAsFailure() async {
        let point = PatchPoint("half", version: 1) { (number: Double) in number / 2 }
        await confirmation { failed in
            point.slot.patch = Patch { _ in
                Issue.record("called"); return nil
            } fail: { error, isOfScript in
                #expect(!isOfScript && error is EncodingError)
                failed()
            }
            #expect(point(.infinity) == .infinity)
        }
    }
}
