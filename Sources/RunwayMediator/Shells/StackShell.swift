public import Observation

/// Decides which screens a window of SwiftUI shows. The view `ShellStack` shows them.
///
/// ```swift
/// ShellStack(shell) { OrderList(mediator: mediator) }
///     .onAppear { mediator.shell = shell }
///     .onOpenURL { mediator.open($0.absoluteString) }
/// ```
///
/// A `@State` of the scene holds the shell. The content of each ``Screen`` is a view, or a controller of UIKit. A
/// screen that the user swipes away ends the wait of its caller (``MediatorError/Kind/closed``), as do the screens
/// above it.
@MainActor @Observable public final class StackShell: Shell {
    private(set) var layers = ScreenLayers()
    @ObservationIgnored private let mediator: Mediator
    @ObservationIgnored private let web: (String) -> Screen
    @ObservationIgnored private var webCount = 0

    /// Creates a shell that shows nothing yet.
    ///
    /// - Parameters:
    ///   - mediator: Is notified of closed screens. The shell holds it.
    ///   - web: Makes the screen that shows a web page of the site. Its web view asks ``Mediator/navigate(to:in:)``.
    public init(mediator: Mediator, web: @escaping (String) -> Screen) {
        self.mediator = mediator
        self.web = web
    }

    /// Shows a screen: ``Presentation/push``, ``Presentation/sheet``, ``Presentation/cover`` and
    /// ``Presentation/root``. Any other presentation is a push.
    public func show(_ screen: Screen, id: ScreenID, of page: any Page, as presentation: Presentation) {
        report(layers.show(ScreenLayers.Entry(id: id, screen: screen), as: presentation))
    }

    /// Pushes a web page.
    public func showWeb(_ address: String) {
        webCount += 1
        let entry = ScreenLayers.Entry(id: ScreenID(web: webCount), screen: web(address))
        report(layers.show(entry, as: .push))
    }

    /// Closes a screen and all that are above it.
    public func close(_ id: ScreenID) { report(layers.close(id).filter { $0 != id }) }

    /// Is called when the user went back: `path` is a part of the stack, without its root.
    func setPath(_ path: [ScreenLayers.Entry], of layer: ScreenID?) {
        let rootCount = layers.all.first { $0.id == layer }?.rootCount ?? 0
        report(layers.cut(layer, to: path.count + rootCount))
    }

    /// Is called when the user closed a presented stack.
    func dismiss(_ layer: ScreenID?) {
        if let layer { report(layers.cut(layer, to: 0)) }
    }

    private func report(_ closed: [ScreenID]) {
        for id in closed { mediator.didClose(id) }
    }
}

extension ScreenID {
    /// Identifies a web page, which the mediator doesn't know.
    init(web number: Int) { self.init(number: -number) }
}
