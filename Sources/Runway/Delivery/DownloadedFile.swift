public import HTTPTypes

public import struct Foundation.URL

/// A file that a ``DownloadManager`` downloaded.
public struct DownloadedFile: Sendable {
    /// The location of the downloaded file.
    public let url: URL
    /// The size of the file in bytes.
    public let byteCount: Int
    /// The number of bytes that were received before the last response, by this or an earlier download. It is 0 if the
    /// last response contained the whole file.
    public let resumedByteCount: Int
    /// The status and header fields of the last response. The status is 206 if the response contained only the missing
    /// part.
    public let response: HTTPResponse
}
