#if canImport(WebKit)
    import Dispatch
    import Foundation
    public import RunwayMediator
    public import WebKit

    /// Prepares one web view before a page needs it, so that its process runs and the bridge's script is loaded.
    ///
    /// ```swift
    /// let warm = WarmWebView(bridge, mediator: mediator)
    /// warm.prepare()                                          // when the app is idle
    /// let view = warm.take()                                  // when a page is shown
    /// ```
    ///
    /// At most one view is prepared. It is released when the account signs out, when its process crashes, and when the
    /// system needs memory; ``take()`` then makes a new one.
    @MainActor public final class WarmWebView {
        private let bridge: Bridge
        private let navigation: WebViewNavigation
        private let configuration: @MainActor () -> WKWebViewConfiguration
        private(set) var view: BridgedWebView?
        /// Reports that the system needs memory. It is stored, because the system cancels a source that is released.
        private let pressure: any DispatchSourceMemoryPressure

        /// Creates a place for one prepared view. Nothing is prepared yet.
        ///
        /// - Parameters:
        ///   - bridge: The bridge of the account.
        ///   - mediator: See ``Bridge/makeWebView(configuration:mediator:in:)``.
        ///   - shell: See ``Bridge/makeWebView(configuration:mediator:in:)``.
        ///   - configuration: Makes the configuration of each view.
        public init(
            _ bridge: Bridge, mediator: Mediator? = nil, in shell: (any Shell)? = nil,
            configuration: @escaping @MainActor () -> WKWebViewConfiguration = { WKWebViewConfiguration() }
        ) {
            self.bridge = bridge
            self.configuration = configuration
            navigation = WebViewNavigation(mediator, shell)
            pressure = DispatchSource.makeMemoryPressureSource(eventMask: [.warning, .critical], queue: .main)
            pressure.setEventHandler { [weak self] in MainActor.assumeIsolated { self?.view = nil } }
            pressure.activate()
        }

        /// Makes a view and loads an empty page in it. Does nothing if one is prepared.
        public func prepare() {
            guard view == nil else { return }
            let view = bridge.makeBridgedView(configuration(), navigation)
            view.shell.onEnd = { [weak self] in self?.view = nil }
            view.loadHTMLString("", baseURL: nil)
            self.view = view
        }

        /// Removes and returns the prepared view, or makes one.
        public func take() -> WKWebView {
            let taken = view ?? bridge.makeBridgedView(configuration(), navigation)
            taken.shell.onEnd = nil
            view = nil
            return taken
        }
    }
#endif
