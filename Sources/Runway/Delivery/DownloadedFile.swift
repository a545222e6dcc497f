public import HTTPTypes

public import struct Foundation.URL

/// A file that was downloaded.
public struct DownloadedFile: Sendable {
    /// The location of the file.
    public let url: URL
    /// The size of the file.
    public let byteCount: Int
    /// The number of its bytes that had been received before the last response, by this download or an earlier one; 0
    /// if that response had the whole file.
    public let resumedByteCount: Int
    /// The head of the last response; of status 206 where only a part was missing.
    public let response: HTTPResponse
}
