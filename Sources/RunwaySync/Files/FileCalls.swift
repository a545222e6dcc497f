import Foundation
import HTTPTypes
import Runway
import RunwaySyncCore
import RunwayTables

/// The requests for the files of spaces, as calls of a layer.
struct FileCalls: Sendable {
    typealias Report = @Sendable (_ byteCount: Int) -> Void

    /// Whether the server has a file.
    let has: @Sendable (FileItem) async throws(NetworkError) -> Bool
    /// Sends the bytes at a URL, or the rest of them after an interruption.
    let upload: @Sendable (FileItem, URL, @escaping Report) async throws(NetworkError) -> Void
    /// Receives the bytes at a URL, or the rest of them after an interruption.
    let download: @Sendable (FileItem, URL, @escaping Report) async throws(NetworkError) -> Void

    /// - Parameter path: The path of the routes, relative to the service's base URL.
    init<Service: APIService>(_ network: NetworkLayer, _ service: Service.Type, path: String) {
        @Sendable func place(_ item: FileItem) -> EndpointPath {
            EndpointPath(stringLiteral: "\(path)/\(item.key.space)/files/\(item.key.digest)")
        }
        has = { (item) async throws(NetworkError) in
            do throws(NetworkError) {
                _ = try await network.call(FileCheck<Service>(path: place(item)))
                return true
            } catch {
                if error.status?.code == 404 { return false }
                throw error
            }
        }
        upload = { (item, url, report) async throws(NetworkError) in
            let upload = FileUpload<Service>(path: place(item), url: url)
            _ = try await network.upload(upload) { report($0.completedByteCount) }
        }
        download = { (item, url, report) async throws(NetworkError) in
            let download = FileDownload<Service>(path: place(item))
            _ = try await network.download(download, to: url, upTo: item.file.byteCount) {
                report($0.completedByteCount)
            }
        }
    }
}

private struct FileCheck<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "SyncFileCheck" }
    static var method: HTTPRequest.Method { .head }
    static var isMergeable: Bool { false }

    let path: EndpointPath

    var parameters: Parameters { [:] }
    func encode(to encoder: any Encoder) {}
}

private struct FileDownload<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "SyncFileDownload" }
    static var isMergeable: Bool { false }

    let path: EndpointPath

    var parameters: Parameters { [:] }
    func encode(to encoder: any Encoder) {}
}

private struct FileUpload<Service: APIService>: Endpoint {
    static var service: Service.Type { Service.self }
    static var name: String { "SyncFileUpload" }
    static var method: HTTPRequest.Method { .put }
    static var encoding: ParameterEncoding { .raw(contentType: "application/octet-stream") }
    static var uploadResumption: UploadResumption { .on }
    static var isMergeable: Bool { false }

    let path: EndpointPath
    let url: URL

    var parameters: Parameters { [:] }
    var content: RequestBody { get throws { try .file(url) } }
    func encode(to encoder: any Encoder) {}
}
