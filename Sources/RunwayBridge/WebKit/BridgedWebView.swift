#if canImport(WebKit)
    import Foundation
    public import RunwayMediator
    public import WebKit

    extension Bridge {
        /// Creates a web view whose pages may call the app.
        ///
        /// ```swift
        /// let view = bridge.makeWebView(mediator: mediator)
        /// view.load(URLRequest(url: address))
        /// ```
        ///
        /// List the domains of the pages under `WKAppBoundDomains` in the app's `Info.plist`, and `runway-bundle:` if
        /// bundles have pages: the view loads no others. Developers can inspect it in debug builds only.
        ///
        /// The view asks the mediator about each navigation of its main frame that a page begins (a link, a script, a
        /// redirect), and does what ``RunwayMediator/Mediator/navigate(to:in:)`` returns. It does not ask about
        /// addresses that the app loads, forms that are posted, reloads and steps in the history. The app may set
        /// `navigationDelegate` and `uiDelegate` as usual: they are asked about what the mediator lets pass, and may
        /// refuse it. A page opens no windows. It leaves the app only by a link, within a second after a gesture of the
        /// user. Frames in a page open only native pages that every link may open.
        ///
        /// - Parameters:
        ///   - configuration: The configuration of the view, for one view only. The bridge adds its script, its message
        ///     handler and the scheme of bundles.
        ///   - mediator: Opens addresses that are pages of this build. By default the view loads every address of its
        ///     domains.
        ///   - shell: The window in which native pages open, by default the mediator's shell. It is held weakly.
        @MainActor public func makeWebView(
            configuration: WKWebViewConfiguration = WKWebViewConfiguration(), mediator: Mediator? = nil,
            in shell: (any Shell)? = nil
        ) -> WKWebView {
            makeBridgedView(configuration, WebViewNavigation(mediator, shell))
        }

        @MainActor func makeBridgedView(
            _ configuration: WKWebViewConfiguration, _ navigation: WebViewNavigation
        ) -> BridgedWebView {
            configuration.limitsNavigationsToAppBoundDomains = true
            configuration.preferences.javaScriptCanOpenWindowsAutomatically = false
            let shell = WebViewShell(self, configuration.userContentController)
            let store = configuration.websiteDataStore
            // What another kind of store has in memory is gone with its views.
            if store.isPersistent {
                remember(ObjectIdentifier(store)) { Task { @MainActor in await store.removeEverything() } }
            }
            configuration.setURLSchemeHandler(BundleScheme(self, shell), forURLScheme: Origin.bundleScheme)
            let view = BridgedWebView(configuration, shell, navigation)
            #if DEBUG
                view.isInspectable = true
            #endif
            shell.view = view
            return view
        }
    }

    /// A web view whose delegates see what the bridge has to know, and then the app's.
    final class BridgedWebView: WKWebView {
        let shell: WebViewShell
        private let navigation: NavigationProxy
        private let windows: WindowProxy

        init(_ configuration: WKWebViewConfiguration, _ shell: WebViewShell, _ navigation: WebViewNavigation) {
            self.shell = shell
            self.navigation = NavigationProxy(shell, navigation)
            windows = WindowProxy(shell)
            super.init(frame: .zero, configuration: configuration)
            super.navigationDelegate = self.navigation
            super.uiDelegate = windows
        }

        @available(*, unavailable) required init?(coder: NSCoder) { nil }

        // WebKit notes which methods a delegate has when it is set.

        override weak var navigationDelegate: (any WKNavigationDelegate)? {
            get { navigation.app }
            set {
                navigation.app = newValue
                super.navigationDelegate = nil
                super.navigationDelegate = navigation
            }
        }

        override weak var uiDelegate: (any WKUIDelegate)? {
            get { windows.app }
            set {
                windows.app = newValue
                super.uiDelegate = nil
                super.uiDelegate = windows
            }
        }

        // The mediator is not asked about what the app itself loads.

        @discardableResult override func load(_ request: URLRequest) -> WKNavigation? {
            guard !shell.postpone(request.url) else { return nil }
            navigation.own = request.url
            return super.load(request)
        }

        @discardableResult override func loadHTMLString(_ string: String, baseURL: URL?) -> WKNavigation? {
            navigation.own = baseURL ?? URL(string: "about:blank")
            return super.loadHTMLString(string, baseURL: baseURL)
        }
    }
#endif
