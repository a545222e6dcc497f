#if canImport(WebKit)
    import Foundation
    import RunwayMediator
    import WebKit

    #if canImport(UIKit)
        import UIKit
    #else
        import AppKit
    #endif

    /// Asks the mediator about navigations that a page begins.
    @MainActor struct WebViewNavigation {
        private let mediator: Mediator?
        private weak var shell: (any Shell)?

        init(_ mediator: Mediator?, _ shell: (any Shell)?) { (self.mediator, self.shell) = (mediator, shell) }

        /// Returns what the view does with an address that `caller` wants to open.
        func decide(_ action: WKNavigationAction, for caller: Reach) -> Navigation {
            // A native page has no body of a request, and what is in the history was loaded before.
            let asks =
                switch action.navigationType {
                case .linkActivated, .other: action.request.httpMethod.map { $0 == "GET" } ?? true
                default: false
                }
            guard asks, let mediator, let url = action.request.url, url.absoluteString != "about:blank" else {
                return .web
            }
            return mediator.navigate(to: url.absoluteString, for: caller, in: shell)
        }

        /// Passes an address to the system.
        static func open(_ url: URL) {
            #if canImport(UIKit)
                UIApplication.shared.open(url)
            #else
                NSWorkspace.shared.open(url)
            #endif
        }
    }
#endif
