#if canImport(WebKit)
    import Foundation
    import ObjectiveC
    import RunwayMediator
    import WebKit

    /// Forwards the messages of WebKit that it does not implement to a delegate of the app.
    ///
    /// WebKit treats an optional method that a delegate lacks in a way of its own, so that a delegate with all of them
    /// would change what a view does.
    @MainActor class DelegateProxy: NSObject {
        // WebKit calls delegates on the main thread only.
        nonisolated(unsafe) weak var forwarded: (any NSObjectProtocol)?

        nonisolated override func responds(to selector: Selector!) -> Bool {
            super.responds(to: selector) || forwarded?.responds(to: selector) == true
        }

        nonisolated override func forwardingTarget(for selector: Selector!) -> Any? {
            forwarded?.responds(to: selector) == true ? forwarded : super.forwardingTarget(for: selector)
        }
    }

    /// Reports navigations and crashes to the bridge, and asks the mediator about navigations.
    @MainActor final class NavigationProxy: DelegateProxy, WKNavigationDelegate {
        weak var app: (any WKNavigationDelegate)? { didSet { forwarded = app } }
        /// The address that the app itself loads; `nil` after WebKit has asked for the policy of that navigation.
        var own: URL?
        private let shell: WebViewShell
        private let navigation: WebViewNavigation

        init(_ shell: WebViewShell, _ navigation: WebViewNavigation) {
            (self.shell, self.navigation) = (shell, navigation)
        }

        func webView(
            _ webView: WKWebView, decidePolicyFor action: WKNavigationAction, preferences: WKWebpagePreferences
        ) async -> (WKNavigationActionPolicy, WKWebpagePreferences) {
            if shell.isClearing { return (isEmptyPage(action) ? .allow : .cancel, preferences) }
            guard permits(action, in: webView) else { return (.cancel, preferences) }
            if let decision = await app?.webView?(webView, decidePolicyFor: action, preferences: preferences) {
                return decision
            }
            if let policy = await app?.webView?(webView, decidePolicyFor: action) { return (policy, preferences) }
            return (.allow, preferences)
        }

        /// Whether the main frame is left for an empty page, as at sign-out, which the app's delegate can't refuse.
        private func isEmptyPage(_ action: WKNavigationAction) -> Bool {
            action.targetFrame?.isMainFrame == true && action.request.url?.absoluteString == "about:blank"
        }

        private func permits(_ action: WKNavigationAction, in view: WKWebView) -> Bool {
            let isOwn = action.request.url == own
            guard let frame = action.targetFrame else {
                if decide(action, in: view) == .web { shell.refusePopup() }
                return false
            }
            guard frame.isMainFrame else { return true }
            own = nil
            return isOwn || decide(action, in: view) == .web
        }

        /// Asks the mediator, and opens an address of the system if the user made a gesture in the page just before.
        ///
        /// WebKit reports a link as activated also if a script has clicked it. A frame of a page can navigate the page,
        /// and may open only what every link may.
        private func decide(_ action: WKNavigationAction, in view: WKWebView) -> Navigation {
            let source = action.sourceFrame
            let isOfPage = source.isMainFrame && source.securityOrigin.isOrigin(of: view.url)
            let decision = navigation.decide(action, for: isOfPage ? .pages : .links)
            guard decision == .system, let url = action.request.url else { return decision }
            if isOfPage, action.navigationType == .linkActivated, shell.takeGesture() {
                WebViewNavigation.open(url)
            } else {
                shell.refuseLeaving()
            }
            return decision
        }

        func webView(_ webView: WKWebView, didCommit navigation: WKNavigation!) {
            shell.commit(navigation)
            app?.webView?(webView, didCommit: navigation)
        }

        func webView(
            _ webView: WKWebView, didFailProvisionalNavigation navigation: WKNavigation!, withError error: any Error
        ) {
            shell.fail(navigation)
            app?.webView?(webView, didFailProvisionalNavigation: navigation, withError: error)
        }

        func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error) {
            shell.fail(navigation)
            app?.webView?(webView, didFail: navigation, withError: error)
        }

        func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {
            shell.crash()
            app?.webViewWebContentProcessDidTerminate?(webView)
        }
    }

    extension WKSecurityOrigin {
        fileprivate func isOrigin(of url: URL?) -> Bool {
            // The port is 0 if it is the usual one of the scheme.
            `protocol` == url?.scheme && host == url?.host() && port == url?.port ?? 0
        }
    }

    /// Refuses windows, which would have no bridge.
    @MainActor final class WindowProxy: DelegateProxy, WKUIDelegate {
        weak var app: (any WKUIDelegate)? { didSet { forwarded = app } }
        private let shell: WebViewShell

        init(_ shell: WebViewShell) { self.shell = shell }

        func webView(
            _ webView: WKWebView, createWebViewWith configuration: WKWebViewConfiguration,
            for navigationAction: WKNavigationAction, windowFeatures: WKWindowFeatures
        ) -> WKWebView? {
            shell.refusePopup()
            return nil
        }
    }
#endif
