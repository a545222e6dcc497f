package import Foundation

extension ChromiumPage {
    /// Shows the page on a screen of this size, as a telephone has it.
    ///
    /// - Parameters:
    ///   - width: The width in points; each has two pixels.
    ///   - height: The height in points.
    ///   - isDark: Whether the user prefers dark colours.
    package func setScreen(width: Int, height: Int, isDark: Bool) async throws {
        _ = try await browser.pipe.send(
            "Emulation.setDeviceMetricsOverride",
            ["width": .integer(width), "height": .integer(height), "deviceScaleFactor": 2, "mobile": true], in: session)
        let scheme: DevToolsValue = isDark ? "dark" : "light"
        _ = try await browser.pipe.send(
            "Emulation.setEmulatedMedia", ["features": [["name": "prefers-color-scheme", "value": scheme]]], in: session
        )
    }

    /// Returns a picture of the whole page, also of what is below the screen, as PNG.
    package func picture() async throws -> Data {
        let result = try await browser.pipe.send(
            "Page.captureScreenshot", ["format": "png", "captureBeyondViewport": true], in: session)
        guard case .bytes(let data) = result["data"] else { throw ChromiumError("the browser sent no picture") }
        return data
    }
}
