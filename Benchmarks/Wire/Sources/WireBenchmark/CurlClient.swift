import CurlClient
import Foundation

/// libcurl with connections that it reuses. One run at a time.
final class CurlClient: @unchecked Sendable {
    // Unchecked: runs follow each other, as the benchmark makes them.
    private let client: OpaquePointer

    init(root: String, http1Only: Bool) throws {
        guard let client = curl_client_make(root, http1Only ? 0 : 1) else { throw UnexpectedResponse() }
        self.client = client
    }

    deinit { curl_client_free(client) }

    /// When the first byte of a body came in the last run, as ``monotonicTime()`` has it.
    var firstByte: Double { curl_client_first_byte(client) }

    func run(_ url: String, count: Int, atATime: Int, byteCount: Int) async throws {
        let failures = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let failures = curl_client_run(self.client, url, count, atATime, byteCount)
                continuation.resume(returning: failures)
            }
        }
        guard failures == 0 else { throw UnexpectedResponse() }
    }
}
