import AppleFoundation
import PhotosUI
import RunwayJSON
import Testing
import UIKit
import WebKit

@testable import RunwayBridge

extension WebViewTests {
    // MARK: Bundles

    /// Requests an address, and waits for the whole response.
    private func response(
        to address: String, method: String = "GET", headerFields: [String: String] = [:]
    ) async -> FakeSchemeTask {
        let request = view.fakeRequest(address, method: method, headerFields: headerFields)
        await until { request.isFinished || request.error != nil }
        return request
    }

    @Test(arguments: [
        ("", "index.html", "text/html; charset=utf-8"), ("app.js?v=1", "app.js", "text/javascript; charset=utf-8"),
        ("digits.bin", "digits.bin", "application/octet-stream"),
    ])
    func filesOfABundleHaveTheirTypes(path: String, file: String, type: String) async {
        let request = await response(to: "runway-bundle://help/\(path)")
        #expect(request.response?.statusCode == 200 && request.data == Data(Self.files[file]!.utf8))
        #expect(request.response?.value(forHTTPHeaderField: "Content-Type") == type)
        #expect(request.response?.value(forHTTPHeaderField: "Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
    }

    @Test func rangesOfFilesAreServed() async {
        let part = await response(to: "runway-bundle://help/digits.bin", headerFields: ["Range": "bytes=2-4"])
        #expect(part.response?.statusCode == 206 && part.data == Data("234".utf8))
        #expect(part.response?.value(forHTTPHeaderField: "Content-Range") == "bytes 2-4/10")
        let beyond = await response(to: "runway-bundle://help/digits.bin", headerFields: ["Range": "bytes=10-"])
        #expect(beyond.response?.statusCode == 416 && beyond.data.isEmpty)
    }

    @Test(arguments: ["help/absent", "help/.git/config", "help/%2e%2e/app.js", "other/", "help/.runway/bytes/unknown"])
    func missingFilesOfABundleAreNotFound(address: String) async {
        let request = await response(to: "runway-bundle://\(address)")
        #expect(request.response?.statusCode == 404 && request.error == nil)
    }

    @Test func filesOfABundleCanOnlyBeRead() async {
        let request = await response(to: "runway-bundle://help/app.js", method: "POST")
        #expect(request.response?.statusCode == 405)
        let head = await response(to: "runway-bundle://help/app.js", method: "HEAD")
        #expect(head.response?.statusCode == 200 && head.data.isEmpty)
    }

    /// WebKit raises an exception for a response to a request that it has stopped. The fake ends the process.
    @Test func stoppedRequestsReceiveNothing() async {
        weak var stopped: FakeSchemeTask?
        do {
            let request = view.fakeRequest("runway-bundle://help/")
            stopped = request
            view.fakeStop(request)
        }
        // The handler holds the request until it would have responded.
        #expect(stopped != nil)
        await until { stopped == nil }
        // Requests that are over can be stopped, too.
        view.fakeStop(await response(to: "runway-bundle://help/"))
    }

    @Test func bytesOfCallsAreLoadedOnce() async {
        let help = WKFrameInfo.fake("runway-bundle", "help")
        view.load(URLRequest(url: URL(string: "runway-bundle://help/")!))
        #expect(await view.fakeCommit())
        post("opened", from: help)
        call("bytes", input: "1500000", from: help)
        #expect(await replies(1)[0].hasPrefix("bytes /.runway/bytes/"))
        let address = "runway-bundle://help\(view.fakeReplies[0].values[5])"
        let first = await response(to: address)
        #expect(first.response?.statusCode == 200 && first.data == Data(repeating: 7, count: 1_500_000))
        // The bytes are never shown as a page of the bundle.
        #expect(first.response?.value(forHTTPHeaderField: "Content-Security-Policy") == "sandbox")
        #expect(await response(to: address).response?.statusCode == 404)
    }

    // MARK: Photos

    /// Shows nothing, and notes what it was to show.
    private final class Presenter: UIViewController {
        var presented: UIViewController?
        override func present(_ controller: UIViewController, animated flag: Bool, completion: (() -> Void)? = nil) {
            presented = controller
        }
    }

    @Test func pagesReceiveOnlyThePixelsOfAPhoto() async throws {
        let controller = Presenter(nibName: nil, bundle: nil)
        let command = DeviceFunctions.live { controller }.photo
        let call = CommandCall(origin: .bundle("help"), idempotencyKey: "key") { (_) throws(BridgeError) in }
        async let output = command.run(try JSONDocument("{}"), call)
        await until { controller.presented != nil }
        let picker = try #require(controller.presented as? PHPickerViewController)
        let photo = NSItemProvider(fakeData: Data("latitude 52.5\0pixels".utf8))
        picker.delegate?.picker(picker, didFinishPicking: [PHPickerResult(fakeProvider: photo)])
        guard case .bytes(let data) = try await output else {
            Issue.record("the output is not bytes")
            return
        }
        #expect(data == Data("pixels".utf8))
    }
}
