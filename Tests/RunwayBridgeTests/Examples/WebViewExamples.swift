import Foundation

// The examples of web views, which Scripts/apple.sh compiles.
#if canImport(WebKit)
    import RunwayBridge
    import RunwayMediator
    import WebKit

    @MainActor private func show(_ address: URL, _ bridge: Bridge, _ mediator: Mediator) {
        let view = bridge.makeWebView(mediator: mediator)
        view.load(URLRequest(url: address))
    }

    @MainActor private func warm(_ bridge: Bridge, _ mediator: Mediator) {
        let warm = WarmWebView(bridge, mediator: mediator)
        warm.prepare()  // when the app is idle
        let view = warm.take()  // when a page is shown
        _ = view
    }
#endif
