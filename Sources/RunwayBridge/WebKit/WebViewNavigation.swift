#if canImport(WebKit)
    import Foundation
    import RunwayMediator
    import WebKit

    #if canImport(UIKit)
        import UIKit
    #else
        import AppKit
    #endif

    /// Asks the mediator about navigations that a page begins, and passes addresses that are not of its site to the
    /// system.
    @MainActor struct WebViewNavigation {
        private let mediator: Mediator?
        private weak var shell: (any Shell)?

        init(_ mediator: Mediator?, _ shell: (any Shell)?) { (self.mediator, self.shell) = (mediator, shell) }

        /// Returns whether the view loads the address.
        func decide(_ action: WKNavigationAction) -> Navigation {
            // A native page has no body of a request, and what is in the history was loaded before.
            let asks =
                switch action.navigationType {
                case .linkActivated, .other: action.request.httpMethod.map { $0 == "GET" } ?? true
                default: false
                }
            guard asks, let mediator, let url = action.request.url, url.absoluteString != "about:blank" else {
                return .web
            }
            let navigation = mediator.navigate(to: url.absoluteString, in: shell)
            if navigation == .system, action.navigationType == .linkActivated { Self.open(url) }
            return navigation
        }

        private static func open(_ url: URL) {
            #if canImport(UIKit)
                UIApplication.shared.open(url)
            #else
                NSWorkspace.shared.open(url)
            #endif
        }
    }
#endif
