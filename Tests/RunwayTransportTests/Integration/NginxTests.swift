import Foundation
import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import RunwayTransport
import Testing

/// Against nginx, which serves the JSON files of Debian's iso-codes.
@Suite(
    .enabled(if: IntegrationServers.areExpected), .timeLimit(.minutes(10)), .overEveryTransport,
    .except(.urlSession, "it trusts the system's authorities alone"))
struct NginxTests {
    private static let versions: [(usesHTTP2: Bool, name: String)] = [
        (true, "HTTP/2"), (false, "HTTP/1.1"),
    ]

    private let servers = Result { try IntegrationServers() }

    @Test(arguments: versions.indices)
    func filesArriveUnchangedAndReadAsJSON(version: Int) async throws {
        let servers = try servers.get()
        let (usesHTTP2, name) = Self.versions[version]
        let files = try FileManager.default.contentsOfDirectory(at: servers.isoCodes, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "json" }
        try #require(files.count >= 8)
        let records = RecordCollector()
        let network = try servers.nginxLayer(usesHTTP2: usesHTTP2, sinks: [records])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for file in files {
                group.addTask {
                    let raw = try await network.call(Fetch<GET>("\(file.lastPathComponent)"))
                    #expect(try raw.bytes == Array(Data(contentsOf: file)), "\(file.lastPathComponent)")
                    #expect(raw.mediaType?.isJSON == true)
                    #expect(raw.json.kind == .object)
                    #expect(raw.json.invalidDocumentError == nil)
                }
            }
            try await group.waitForAll()
        }
        let attempts = try await records.records(count: files.count).flatMap(\.attempts)
        #expect(attempts.count == files.count)
        #expect(attempts.allSatisfy { $0.httpVersion == name })
    }

    @Test func bytesReadAreThoseOfTheFile() async throws {
        let raw = try await servers.get().nginxLayer().call(Fetch<GET>("iso_3166-1.json"))
        let china = try #require(raw["3166-1"].elements.first { $0["alpha_2"].isString("CN") })
        #expect(china["name"].string == "China")
        #expect(china["flag"].string == "🇨🇳")
        #expect(china["numeric"].string == "156")
        #expect(raw["3166-1"].count > 200)
    }

    @Test(arguments: versions.indices)
    func responsesAreCompressedOnlyOnTheWire(version: Int) async throws {
        let servers = try servers.get()
        let network = try servers.nginxLayer(usesHTTP2: Self.versions[version].0)
        let file = try Array(Data(contentsOf: servers.isoCodes.appending(path: "iso_639-3.json")))
        // What a caller asks for itself is sent so; nginx marks a compressed response by a weak entity tag.
        let plain = try await network.call(Fetch<GET>("iso_639-3.json", headers: ["Accept-Encoding": "identity"]))
        let coded = try await network.call(Fetch<GET>("iso_639-3.json"))
        #expect(plain.bytes == file)
        #expect(coded.bytes == file)
        #expect(plain.response.headerFields[.contentLength] == "\(file.count)")
        #expect(coded.response.headerFields[.contentLength] == nil)
        #expect(coded.response.headerFields[.contentEncoding] == nil)
        #expect(plain.response.headerFields[.eTag]?.hasPrefix("W/") == false)
        #expect(coded.response.headerFields[.eTag]?.hasPrefix("W/") == true)
    }

    @Test(arguments: versions.indices)
    func streamsCarryTheSameBytes(version: Int) async throws {
        let servers = try servers.get()
        let file = try Array(Data(contentsOf: servers.isoCodes.appending(path: "iso_3166-2.json")))
        let response = try await servers.nginxLayer(usesHTTP2: Self.versions[version].0).stream(
            Fetch<GET>("iso_3166-2.json"))
        #expect(try await response.body.collect(upTo: file.count) == file)
    }

    @Test(arguments: versions.indices, ["identity", "gzip"])
    func headHasGetsFieldsAndNoBody(version: Int, coding: String) async throws {
        let network = try servers.get().nginxLayer(usesHTTP2: Self.versions[version].0)
        for _ in 0..<3 {
            let raw = try await network.call(
                Fetch<HEAD>("iso_4217.json", headers: ["Accept-Encoding": coding]))
            #expect(raw.bytes.isEmpty)
            #expect(raw.response.status == .ok)
            #expect(raw.mediaType?.isJSON == true)
        }
    }

    @Test func headSaysHowLargeTheFileIs() async throws {
        let servers = try servers.get()
        let file = try Data(contentsOf: servers.isoCodes.appending(path: "iso_4217.json"))
        let raw = try await servers.nginxLayer().call(Fetch<HEAD>("iso_4217.json"))
        #expect(raw.response.headerFields[.contentLength] == "\(file.count)")
    }

    @Test(arguments: versions.indices)
    func aFileThatIsNotThereIsRefused(version: Int) async throws {
        let error = try await servers.get().nginxLayer(usesHTTP2: Self.versions[version].0).failure(
            of: Fetch<GET>("none.json"))
        #expect(error.kind == .refused)
        #expect(error.status == .notFound)
    }

    @Test(arguments: versions.indices)
    func aRangeIsReturnedAsRequested(version: Int) async throws {
        let servers = try servers.get()
        let file = try Array(Data(contentsOf: servers.isoCodes.appending(path: "iso_4217.json")))
        let raw = try await servers.nginxLayer(usesHTTP2: Self.versions[version].0).call(
            Fetch<GET>("iso_4217.json", headers: ["Range": "bytes=100-199", "Accept-Encoding": "identity"]))
        #expect(raw.response.status == .partialContent)
        #expect(raw.bytes == Array(file[100..<200]))
        #expect(raw.response.headerFields[.contentRange] == "bytes 100-199/\(file.count)")
    }

    @Test(arguments: versions.indices)
    func aConditionalRequestGetsNoBody(version: Int) async throws {
        let network = try servers.get().nginxLayer(usesHTTP2: Self.versions[version].0)
        let first = try await network.call(Fetch<GET>("iso_4217.json"))
        let tag = try #require(first.response.headerFields[.eTag])
        let second = try await network.call(Fetch<GET>("iso_4217.json", headers: ["If-None-Match": tag]))
        #expect(second.response.status == .notModified)
        #expect(second.bytes.isEmpty)
        let other = try await network.call(Fetch<GET>("iso_4217.json", headers: ["If-None-Match": "\"other\""]))
        #expect(other.response.status == .ok)
        #expect(other.bytes == first.bytes)
    }

    @Test(arguments: versions.indices)
    func fileTruncatedDuringTheResponseIsAnError(version: Int) async throws {
        let servers = try servers.get()
        let name = "\(UUID().uuidString).bin"
        let file = servers.ownFiles.appending(path: name)
        try Data(count: 1 << 20).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let response = try await servers.nginxLayer(usesHTTP2: Self.versions[version].0).stream(
            Fetch<GET>("own/\(name)"))
        #expect(response.response.headerFields[.contentLength] == "\(1 << 20)")
        var received = 0
        let error = await #expect(throws: NetworkError.self) {
            for try await part in response.body {
                if received == 0 { try FileHandle(forWritingTo: file).truncate(atOffset: 66_000) }
                received += part.count
            }
        }
        #expect(received < 1 << 20)
        #expect([.noNetwork, .invalidResponse].contains(error?.kind))
        #expect(error?.step == .transporting)
    }

    @Test func methodThatNginxDoesNotAllowIsRefused() async throws {
        let error = try await servers.get().nginxLayer().failure(of: Fetch<POST>("iso_4217.json", .bytes([1])))
        #expect(error.kind == .refused)
        #expect(error.status == .methodNotAllowed)
    }

    @Test func plainHTTPServesTheSame() async throws {
        let servers = try servers.get()
        let plain = try await NetworkLayer(to: servers.plainNginx).call(Fetch<GET>("iso_15924.json"))
        #expect(try plain.bytes == Array(Data(contentsOf: servers.isoCodes.appending(path: "iso_15924.json"))))
    }

    @Test func anUntrustedAuthorityGetsNoRequest() async throws {
        let error = try await NetworkLayer(to: servers.get().nginx).failure(of: Fetch<GET>("iso_4217.json"))
        #expect(error.kind == .notTrusted)
    }

    @Test func serverRefusesPlainHTTPOnItsTLSPort() async throws {
        let base = try servers.get().nginx.replacing("https:", with: "http:")
        let error = try await NetworkLayer(to: base).failure(of: Fetch<GET>("iso_4217.json"))
        #expect(error.kind == .refused)
        #expect(error.status == .badRequest)
    }
}
