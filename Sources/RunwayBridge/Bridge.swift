public import Runway
import Synchronization

/// Lets pages in web views call commands of the app. A page may call only the commands that its origin was granted.
///
/// ```swift
/// let bridge = Bridge(
///     capabilities: [Capability(Origin("https://m.example.com")!, commands: [listOrders, cancelOrder])],
///     sinks: [PrintingSink()])
/// ```
///
/// On Apple's systems `bridge.makeWebView()` returns a `WKWebView` whose pages have the bridge. In such a page:
///
/// ```js
/// const orders = await runway.call("orders.list", { state: "open" })
/// ```
///
/// A bridge belongs to one account. At sign-out call ``signOut()``.
public final class Bridge: Sendable {
    let grants: [Origin: [String: Command]]
    let bundles: [Origin: BundleFiles]
    let limits: BridgeLimits
    let redaction: Redaction
    let clock: LayerClock
    private let sinks: [any BridgeSink]

    private struct State {
        var pageCount = 0
        var documentCount = 0
        var pages: [Int: Weak] = [:]
        /// Functions that clear the data stores that views have used, the least recently used store first.
        var clearings: [(store: ObjectIdentifier, clear: @Sendable () -> Void)] = []
    }

    /// The maximum number of data stores that are cleared although no view uses them.
    private static let maximumStores = 16

    private struct Weak {
        weak var page: BridgedPage?
    }

    /// Guards the pages, the number of the last document, and the stores of data.
    private let state = Mutex(State())

    /// Creates a bridge.
    ///
    /// It is a programming error to grant one origin two commands of the same name, or to pass two bundles of one name.
    ///
    /// - Parameters:
    ///   - capabilities: The grants. An origin that is not among them may call nothing.
    ///   - bundles: The bundles whose pages web views may load. By default none.
    ///   - limits: Bounds of each document.
    ///   - redaction: Removes secrets from the inputs in records, by their names.
    ///   - sinks: Receive the records.
    ///   - clock: Measures durations, deadlines and rates.
    public init(
        capabilities: [Capability], bundles: [BundleFiles] = [], limits: BridgeLimits = BridgeLimits(),
        redaction: Redaction = .default, sinks: [any BridgeSink] = [], clock: LayerClock = .system
    ) {
        self.limits = limits
        self.redaction = redaction
        self.sinks = sinks
        self.clock = clock
        self.bundles = Dictionary(bundles.map { ($0.origin, $0) }) { first, _ in
            preconditionFailure("there are two bundles \(first.origin)")
        }
        grants = capabilities.reduce(into: [:]) { grants, capability in
            for command in capability.commands {
                let other = grants[capability.origin, default: [:]].updateValue(command, forKey: command.name)
                precondition(other == nil, "\(capability.origin) is granted two commands \(command.name)")
            }
        }
    }

    /// Ends the calls of all pages. Call it when the user signs out.
    ///
    /// Each web view then removes all website data from its data store, including the data of other web views that use
    /// the same store, and loads its page again. A page can delay this by at most two seconds. The persistent data
    /// stores of web views that are gone are cleared, too: the last 16 that were used.
    public func signOut() {
        let (pages, clearings) = state.withLock { ($0.pages.values.compactMap(\.page), $0.clearings) }
        for page in pages { page.signOut() }
        for clearing in clearings { clearing.clear() }
    }

    /// Clears a store of data at sign-out, also when no view uses it any more.
    func remember(_ store: ObjectIdentifier, clear: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.clearings.removeAll { $0.store == store }
            state.clearings.append((store, clear))
            if state.clearings.count > Self.maximumStores { state.clearings.removeFirst() }
        }
    }

    func record(_ makeRecord: () -> BridgeRecord) {
        guard !sinks.isEmpty else { return }
        let record = makeRecord()
        for sink in sinks { sink.receive(record) }
    }

    func add(_ page: BridgedPage) {
        state.withLock { state in
            state.pages = state.pages.filter { $0.value.page != nil }
            state.pageCount += 1
            state.pages[state.pageCount] = Weak(page: page)
        }
    }

    func nextDocument() -> Int {
        state.withLock { state in
            state.documentCount += 1
            return state.documentCount
        }
    }
}

extension Bridge {
    /// The script that a shell evaluates in every frame, before the scripts of the page: first in a world
    /// of its own, with the function `runwayNative`, then in the world of the page.
    package static var script: [UInt8] { PackageResources.runway_js }
}
