import Foundation
import HTTPTypes
import Runway
import RunwayTesting

/// What a soak asks for: mostly small reads, some large ones, uploads and downloads. All of what comes is compared with the server's files.
struct SoakTraffic: Sendable {
    private let small: [UInt8]
    private let medium: [UInt8]
    private let large: [UInt8]
    /// Where downloads go.
    private let folder: URL

    /// Reads the server's files, and makes a folder for downloads.
    init(files: String) throws {
        func bytes(_ name: String) throws -> [UInt8] {
            try [UInt8](Data(contentsOf: URL(fileURLWithPath: files).appendingPathComponent(name)))
        }
        small = try bytes("1k")
        medium = try bytes("50k")
        large = try bytes("300k")
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("runway-soak-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// Removes the folder, and what downloads that failed have left in it.
    func removeFiles() { try? FileManager.default.removeItem(at: folder) }

    /// Makes a call of a random kind.
    ///
    /// - Parameter worker: The number of the worker, which makes one call at a time.
    /// - Throws: ``UnexpectedResponse`` for a response that is not the right one, byte by byte.
    func call(_ worker: Int, over network: NetworkLayer, _ random: inout SeededGenerator) async throws {
        let kind = Int.random(in: 0..<1000, using: &random)
        switch kind {
        case 0..<570: try check(await network.call(File(name: "1k")).bytes == small)
        case 570..<720: try check(await network.call(File(name: "50k")).bytes == medium)
        case 720..<820: try check(await network.call(CachedFile(name: "1k", part: kind % 10)).bytes == small)
        case 820..<870:
            let response = try await network.call(SoakPost(text: String(repeating: "a", count: 9000)))
            try check(response.bytes == Array("ok".utf8))
        case 870..<920:
            // The beginning of a body is read, and the rest discarded.
            for try await part in try await network.stream(File(name: "50k")).body where !part.isEmpty {
                try check(medium.starts(with: part))
                break
            }
        case 920..<970:
            let task = Task { try await network.call(File(name: "50k")) }
            try? await Task.sleep(for: .microseconds(Int.random(in: 0...3000, using: &random)))
            task.cancel()
            try check(await task.value.bytes == medium)
        case 970..<990: try check(await network.call(HedgedFile(name: "50k")).bytes == medium)
        case 990..<995: try await download(worker, over: network)
        default:
            let bytes = Array(large.suffix(Int.random(in: 100_000...300_000, using: &random)))
            try await upload(bytes, as: "\(worker)-\(random.next())", over: network)
        }
    }

    private func download(_ worker: Int, over network: NetworkLayer) async throws {
        let file = folder.appendingPathComponent("\(worker)")
        let saved = try await network.download(File(name: "300k"), to: file)
        try check([UInt8](Data(contentsOf: file)) == large && saved.byteCount == large.count)
        try FileManager.default.removeItem(at: file)
    }

    /// Uploads under a unique name, so that no cancelled upload is taken for this one; and reads it back.
    private func upload(_ bytes: [UInt8], as name: String, over network: NetworkLayer) async throws {
        _ = try await network.upload(SoakUpload(name: name, bytes: bytes))
        let response: RawData
        do throws(NetworkError) {
            response = try await network.call(UploadedFile(name: name))
        } catch let error where error.status == .notFound {
            throw UnexpectedResponse()
        }
        try check(response.bytes == bytes)
        // What is left behind goes with the server.
        _ = try? await network.call(UploadRemoval(name: name))
    }

    private func check(_ isRight: Bool) throws {
        if !isRight { throw UnexpectedResponse() }
    }
}

private struct CachedFile: Endpoint {
    static let service = Files.self
    static let cache = CachePolicy.timeToLive(.seconds(1))
    @Unencoded var name: String
    var part: Int
    var path: EndpointPath { "\(name)" }
}

private struct HedgedFile: Endpoint {
    static let service = Files.self
    static let coalesces = false
    static let hedging = HedgingPolicy.learned()
    @Unencoded var name: String
    var path: EndpointPath { "\(name)" }
}

private struct SoakPost: Endpoint {
    static let service = Files.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.json()
    var text: String
    var path: EndpointPath { "post" }
}

private struct SoakUpload: Endpoint {
    static let service = Files.self
    static let method = HTTPRequest.Method.put
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")
    @Unencoded var name: String
    @Unencoded var bytes: [UInt8]
    var path: EndpointPath { "uploads/\(name)" }
    var content: RequestBody { .bytes(bytes) }
}

private struct UploadedFile: Endpoint {
    static let service = Files.self
    @Unencoded var name: String
    var path: EndpointPath { "uploads/\(name)" }
}

private struct UploadRemoval: Endpoint {
    static let service = Files.self
    static let method = HTTPRequest.Method.delete
    @Unencoded var name: String
    var path: EndpointPath { "uploads/\(name)" }
}
