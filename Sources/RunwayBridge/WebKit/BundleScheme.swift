#if canImport(WebKit)
    import Foundation
    import WebKit

    /// Serves the pages of bundles, and the bytes of their calls, to one web view.
    @MainActor final class BundleScheme: NSObject, WKURLSchemeHandler {
        private let bridge: Bridge
        private weak var shell: WebViewShell?
        /// The requests that WebKit has not stopped. It raises an exception for a response to one that it has.
        private var running: [ObjectIdentifier: Task<Void, Never>] = [:]

        init(_ bridge: Bridge, _ shell: WebViewShell) { (self.bridge, self.shell) = (bridge, shell) }

        func webView(_ webView: WKWebView, start urlSchemeTask: any WKURLSchemeTask) {
            let id = ObjectIdentifier(urlSchemeTask)
            running[id] = Task {
                let request = urlSchemeTask.request
                let response = await response(to: request)
                guard running.removeValue(forKey: id) != nil else { return }
                guard let url = request.url,
                    let head = HTTPURLResponse(
                        url: url, statusCode: response.status, httpVersion: "HTTP/1.1",
                        headerFields: response.headerFields)
                else { return urlSchemeTask.didFailWithError(URLError(.badURL)) }
                urlSchemeTask.didReceive(head)
                urlSchemeTask.didReceive(response.body)
                urlSchemeTask.didFinish()
            }
        }

        func webView(_ webView: WKWebView, stop urlSchemeTask: any WKURLSchemeTask) {
            running.removeValue(forKey: ObjectIdentifier(urlSchemeTask))?.cancel()
        }

        private func response(to request: URLRequest) async -> BundleResponse {
            let path = request.url?.path(percentEncoded: true) ?? ""
            if path.hasPrefix(BridgedPage.bytesPath) { return BundleResponse(bytes: shell?.takeBytes(at: path)) }
            return await Self.read(request, from: bridge)
        }

        /// Reads files on another thread than the main one.
        @concurrent private nonisolated static func read(
            _ request: URLRequest, from bridge: Bridge
        ) async -> BundleResponse {
            bridge.response(
                to: request.httpMethod ?? "GET", of: request.url?.absoluteString ?? "",
                range: request.value(forHTTPHeaderField: "Range"))
        }
    }
#endif
