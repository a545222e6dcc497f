import Foundation
import Runway
import RunwayBridge
import RunwayChromium
import RunwayMediator
import Synchronization

/// The screen of the addresses. The shell shows nothing: it records the page, and the visit picks an address for the user.
private struct AddressModule: Module {
    func screen(for page: AddressPage, in mediator: Mediator) -> Screen { Screen(page, as: .sheet) }
}

/// Counts the calls of the shop's endpoint by the source of their responses.
final class ShopFlights: EventSink {
    /// Guards the sources, oldest first.
    private let sources = Mutex<[ResponseSource?]>([])
    var all: [ResponseSource?] { sources.withLock { $0 } }
    func receive(_ record: FlightRecord) {
        if record.endpoint == "OrderList" { sources.withLock { $0.append(record.source) } }
    }
}

/// Records the calls of the pages.
private final class PageCalls: BridgeSink {
    /// Guards the records, oldest first.
    private let records = Mutex<[BridgeRecord]>([])
    var all: [BridgeRecord] { records.withLock { $0 } }
    func receive(_ record: BridgeRecord) { records.withLock { $0.append(record) } }
}

/// Visits the shop in Chromium. The pages, the server, the layer, the bridge and the mediator are those of the apps; only the user and
/// the screen of the addresses are not there.
@MainActor struct ShopVisit {
    private let page: ChromiumPage
    private let pictures: URL

    static func run(
        at url: String, over network: NetworkLayer, _ flights: ShopFlights, pictures: URL
    ) async throws {
        guard let program = ChromiumBrowser.installed, let origin = RunwayBridge.Origin(url) else {
            fatalError("there is no Chromium, or \(url) is no origin")
        }
        try FileManager.default.createDirectory(at: pictures, withIntermediateDirectories: true)
        let shell = RecordingShell()
        let mediator = Mediator { AddressModule() }
        mediator.shell = shell
        shell.onShow = { shown in
            if case .pick(let reply) = shown.page as? AddressPage { reply.finish(Address.all[0]) }
        }
        let calls = PageCalls()
        let browser = try await ChromiumBrowser(program: program)
        defer { browser.close() }
        let visit = ShopVisit(
            page: try await browser.openPage(Shop.bridge(for: origin, over: network, in: mediator, sinks: [calls])),
            pictures: pictures)
        visit.page.onLog { print("The page says: \($0)") }

        try await visit.shop(at: "\(url)/\(Shop.page)")
        SampleClient.expect(shell.shown.isEmpty, "the native page is closed when it has returned its result")
        SampleClient.expect(flights.all.contains(.cache), "the cache of the app has the response to a repeated call")
        try await visit.callbacks(at: "\(url)/shop/callbacks.html")
        let refused = calls.all.filter(\.isRefusal).map { "\($0.command) \($0.error?.kind.description ?? "")" }
        SampleClient.expect(
            refused == ["orders.picture gestureNeeded", "device.location notGranted", "device.location notGranted"],
            "what the pages may not do is refused and recorded")
    }

    private func shop(at address: String) async throws {
        try await page.setScreen(width: 390, height: 844, isDark: false)
        try await page.load(address)
        let isListed = "document.querySelectorAll('#orders li').length === 3"
        try await wait(for: isListed, "the page lists the orders of the account")
        try await store("shop-begin")
        try await page.load(address)
        try await wait(for: isListed, "and again after it was loaded again")

        // As if the user had chosen a file: scripts can't open the dialogue of the browser.
        _ = try await page.evaluate(Self.choosing)
        try await wait(for: "!send.disabled && preview.naturalWidth === 640", "and shows the chosen picture")
        _ = try await page.evaluate("send.click()")
        try await wait(
            for: "text('picture-note').includes('again')",
            "and sends nothing without a tap of the user, which a script can't make")
        try await tap("send")
        try await wait(
            for: "text('picture-note') === 'The picture is sent.' && share.value === 1",
            "and sends it with its progress")
        try await wait(
            for: "text('changes') === 'Order 7: The picture has arrived.'", "and hears of it from the server")

        try await tap("pick")
        try await wait(for: "text('address') === 'Elm Street 7, Leiden'", "and shows the address of the native page")

        try await tap("locate")
        try await wait(
            for: "document.getElementById('location').className === 'refused'",
            "and shows that it may not ask where the user is")
        try await store("shop")
    }

    private func callbacks(at address: String) async throws {
        try await page.load(address)
        try await wait(for: "document.readyState === 'complete'", "the server has a page with callbacks")
        for (button, text) in [
            ("list", "text('listed').startsWith('Moving van')"), ("pick", "text('picked') === 'Elm Street 7, Leiden'"),
            ("upload", "text('sent') === '100 %. Sent.'"), ("locate", "text('located').startsWith('notGranted: ')"),
        ] {
            try await tap(button)
            try await wait(for: text, "and it reaches the app by a shim: \(button)")
        }
        try await store("callbacks")
    }

    // MARK: Driving

    /// A picture of 640 × 400 pixels, as a file of the user.
    private static let choosing = """
        (async () => {
          const canvas = document.createElement('canvas')
          canvas.width = 640; canvas.height = 400
          const context = canvas.getContext('2d')
          const sky = context.createLinearGradient(0, 0, 0, 400)
          sky.addColorStop(0, '#7db3e8'); sky.addColorStop(1, '#f3d9b1')
          context.fillStyle = sky; context.fillRect(0, 0, 640, 400)
          context.fillStyle = '#a9744f'; context.fillRect(210, 170, 220, 170)
          context.fillStyle = '#8a5a3b'; context.fillRect(210, 170, 220, 24)
          context.fillStyle = '#e9d8bf'; context.fillRect(296, 170, 48, 170)
          const blob = await new Promise(done => canvas.toBlob(done, 'image/png'))
          const files = new DataTransfer()
          files.items.add(new File([blob], 'box.png', { type: 'image/png' }))
          file.files = files.files
          file.dispatchEvent(new Event('change'))
        })()
        """

    /// Waits until a condition holds in the page.
    private func wait(for condition: String, _ claim: String) async throws {
        let isTrue = "(() => { const text = id => document.getElementById(id).textContent; return \(condition) })()"
        try await SampleClient.wait(claim) { (try? await page.evaluate(isTrue)) == "true" }
    }

    /// Taps a button, as a user would: at its place on the screen.
    private func tap(_ id: String) async throws {
        let place = """
            (() => {
              const button = document.getElementById('\(id)')
              button.scrollIntoView({ block: 'center' })
              const { x, y, width, height } = button.getBoundingClientRect()
              return [x + width / 2, y + height / 2].map(Math.round)
            })()
            """
        let numbers = try JSONDecoder().decode([Int].self, from: Data(try await page.evaluate(place).utf8))
        try await page.click(x: numbers[0], y: numbers[1])
    }

    /// Stores pictures of the page, light and dark.
    private func store(_ name: String) async throws {
        for isDark in [false, true] {
            try await page.setScreen(width: 390, height: 844, isDark: isDark)
            try await page.picture().write(to: pictures.appending(path: "\(name)-\(isDark ? "dark" : "light").png"))
        }
        try await page.setScreen(width: 390, height: 844, isDark: false)
    }
}
