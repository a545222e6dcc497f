import RunwayMediator
import RunwayTUF
import Synchronization
import Testing

@testable import RunwayBundles

enum Remote {
    static let nativeOrders = RemoteValue("orders.native", default: true)
}

struct RemoteValuesTests {
    private let columns = RemoteValue("columns", default: 2)
    private let names = RemoteValue("names", default: ["a"])

    /// The records of the values of a file.
    private final class Records: Sendable {
        /// Guards the records in their order.
        let all = Mutex<[String]>([])

        func values(_ text: String?, device: String = "device-1") -> RemoteValues {
            RemoteValues(
                reading: text.map { Array($0.utf8) }, of: BundleID(embedded: 3), for: device
            ) { record in
                self.all.withLock { $0.append("\(record.kind) \(record.detail)") }
            }
        }

        var texts: [String] { all.withLock { $0 } }
    }

    @Test func bundlesChangeValues() {
        let records = Records()
        let values = records.values(
            #"{"format":1,"x":1,"values":{"columns":{"value":3,"x":1},"names":{"value":["b","c"]},"unknown":{}}}"#)
        #expect(values[columns] == 3 && values[names] == ["b", "c"] && values[Remote.nativeOrders])
        #expect(records.texts.isEmpty)
    }

    @Test func absentFilesHaveDefaults() {
        let records = Records()
        #expect(records.values(nil)[columns] == 2 && records.texts.isEmpty)
    }

    @Test(arguments: [
        "", "[]", #"{"format":2,"values":{}}"#, #"{"values":{}}"#, #"{"format":1,"values":[]}"#,
        #"{"format":1,"values":{"columns":{"value":3},"columns":{"value":4}}}"#,
        #"{"format":1,"values":{"columns":{"value":3}}}"# + String(repeating: " ", count: 256 << 10),
    ])
    func invalidFilesHaveDefaults(_ text: String) {
        let records = Records()
        #expect(records.values(text)[columns] == 2)
        #expect(records.texts.count == 1)
    }

    @Test(arguments: [
        #"{"value":"3"}"#, #"{"value":3.5}"#, #"{"value":true}"#, "{}", "3", #"{"value":3,"rollout":{"share":1}}"#,
        #"{"value":3,"rollout":{"share":10001,"salt":""}}"#, #"{"value":3,"rollout":null}"#,
    ])
    func invalidValuesAreReportedOnce(_ entry: String) {
        let records = Records()
        let values = records.values(#"{"format":1,"values":{"columns":\#(entry),"names":{"value":["b"]}}}"#)
        for _ in 0..<3 { #expect(values[columns] == 2) }
        #expect(values[names] == ["b"])
        #expect(records.texts.count == 1)
        #expect(records.texts.first?.hasPrefix("invalidValue columns") == true)
    }

    /// The same salt chooses the devices that it chooses for a bundle.
    @Test func rolloutsOfValuesAreThoseOfBundles() throws {
        let rollout = try Rollout(share: 3_000, salt: "columns")
        let text = #"{"format":1,"values":{"columns":{"value":3,"rollout":{"share":3000,"salt":"columns"}}}}"#
        let devices = (0..<200).map { "device-\($0)" }
        let changed = devices.filter { Records().values(text, device: $0)[columns] == 3 }
        #expect(changed == devices.filter(rollout.includes))
        #expect((30..<90).contains(changed.count))
    }

    #if DEBUG
        @Test func debugBuildsOverrideValues() {
            let values = Records().values(#"{"format":1,"values":{"columns":{"value":3}}}"#)
            values.override(columns, with: 7)
            #expect(values[columns] == 7)
            values.override(columns, with: nil)
            #expect(values[columns] == 3)
        }
    #endif

    @MainActor @Test func switchedOffPagesOpenOnTheWeb() {
        for isOn in [true, false] {
            let values = Records().values(#"{"format":1,"values":{"orders.native":{"value":\#(isOn)}}}"#)
            let native = Guard("native orders") { values[Remote.nativeOrders] }
            let shell = RecordingShell()
            let mediator = Mediator(fallback: .web("https://m.example.com")) { OrdersModule(native: native) }
            mediator.shell = shell
            #expect(mediator.open(OrdersPage.list) == (isOn ? .shown : .web("https://m.example.com/orders/list")))
        }
    }
}

private enum OrdersPage: String, Page {
    static let module = "orders"
    case list
}

private struct OrdersModule: Module {
    let native: Guard

    func screen(for page: OrdersPage, in mediator: Mediator) -> Screen { Screen(native) }
    func guards(for page: OrdersPage) -> [Guard] { [native] }
}
