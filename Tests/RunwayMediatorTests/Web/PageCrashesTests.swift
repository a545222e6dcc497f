import Foundation
import RunwayMediator
import Testing

@MainActor struct PageCrashesTests {
    /// A folder that is removed.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appending(path: "PageCrashes.\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }

        var file: URL { url.appending(path: "pages.json") }
    }

    @Test func twoCrashesAreRepeated() throws {
        let folder = try Folder()
        for count in 0..<3 {
            let crashes = PageCrashes(at: folder.file, build: "1")
            #expect(crashes.areRepeated(in: "orders") == (count >= 2))
            #expect(!crashes.areRepeated(in: "account"))
            crashes.begin("account")
            crashes.begin("orders")
            crashes.end("account")
            // The process ends here while "orders" is visible.
        }
    }

    @Test func ordinaryEndsAreNoCrashes() throws {
        let folder = try Folder()
        for _ in 0..<4 {
            let crashes = PageCrashes(at: folder.file, build: "1")
            #expect(!crashes.areRepeated(in: "orders"))
            crashes.begin("orders")
            crashes.end("orders")
        }
    }

    @Test func pagesInTwoWindowsEndTwice() throws {
        let folder = try Folder()
        for count in 0..<3 {
            let crashes = PageCrashes(at: folder.file, build: "1")
            #expect(crashes.areRepeated(in: "orders") == (count == 2))
            for _ in 0..<2 { crashes.begin("orders") }
            crashes.end("orders")
        }
    }

    @Test func otherBuildsBeginAtZero() throws {
        let folder = try Folder()
        for _ in 0..<3 { PageCrashes(at: folder.file, build: "1").begin("orders") }
        #expect(PageCrashes(at: folder.file, build: "1").areRepeated(in: "orders"))
        #expect(!PageCrashes(at: folder.file, build: "2").areRepeated(in: "orders"))
    }

    @Test func countsAndFilesAreBounded() throws {
        let folder = try Folder()
        for _ in 0..<3 {
            let crashes = PageCrashes(at: folder.file, build: String(repeating: "é", count: 1_000))
            for page in [String(repeating: "a", count: 101), "\u{1}", "\"", "\\"] { crashes.begin(page) }
            for page in 0..<100 { crashes.begin(String(repeating: "/", count: 98) + "\(page)") }
        }
        #expect(try Data(contentsOf: folder.file).count == 8_192)
        let crashes = PageCrashes(at: folder.file, build: String(repeating: "é", count: 50))
        let counted = (0..<100).filter { crashes.areRepeated(in: String(repeating: "/", count: 98) + "\($0)") }
        #expect(counted == Array(0..<32))
    }

    @Test func damagedFilesBeginAtZero() throws {
        let folder = try Folder()
        try Data("{".utf8).write(to: folder.file)
        PageCrashes(at: folder.file, build: "1").begin("orders")
        PageCrashes(at: folder.file, build: "1").begin("orders")
        #expect(PageCrashes(at: folder.file, build: "1").areRepeated(in: "orders"))
        // A folder that does not exist counts nothing.
        let absent = PageCrashes(at: folder.url.appending(path: "x/y"), build: "1")
        absent.begin("orders")
        #expect(!absent.areRepeated(in: "orders"))
    }

    @Test func pagesThatCrashTwiceOpenOnTheWeb() throws {
        let folder = try Folder()
        let file = folder.file
        for count in 0..<3 {
            let crashes = PageCrashes(at: file, build: "412")
            let native = Guard("native orders") { !crashes.areRepeated(in: "orders") }
            let shell = RecordingShell()
            let mediator = Mediator(fallback: .web("https://m.example.com")) { GuardedOrders(condition: native) }
            mediator.shell = shell
            let outcome = mediator.open(OrdersPage.order(id: 7, tab: nil))
            #expect(outcome == (count < 2 ? .shown : .web("https://m.example.com/orders/order?id=7")))
            crashes.begin("orders")
        }
    }
}

private struct GuardedOrders: Module {
    let condition: Guard

    func screen(for page: OrdersPage, in mediator: Mediator) -> Screen { Screen(OrderList(mediator: mediator)) }
    func guards(for page: OrdersPage) -> [Guard] { [condition] }
}
