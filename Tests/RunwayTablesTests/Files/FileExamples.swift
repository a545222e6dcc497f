import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTransport
import Testing

@testable import RunwayTables

private enum RentalService: APIService {
    static let name = "rentals"
    static let environments: [ServiceEnvironment: String] = [:]
}

private struct RentalFilm: Endpoint {
    static let service = RentalService.self
    var id: Int
    var path: EndpointPath { "films/\(id)" }
}

/// The examples of the documentation.
struct FileExamples {
    private enum Films: RunwayTables.TableDefinition {
        static let name = "film"
        static let id = Column<Int>("id"), film = Column<StoredFile?>("film")
        static let poster = Column<StoredFile?>("poster") { $0.byteCount <= 5 << 20 }
        static let columns = TableColumns<Self>(id, film, poster)
    }

    private let folder = ScratchFolder()

    @Test func exampleOfAFileRuns() async throws {
        let (store, picture) = (try await folder.open([Films.self]), Data("picture".utf8))
        try await store.withFile(picture) { file in
            var film = Values<Films>()
            film[Films.id] = 7
            film[Films.poster] = file
            let row = film
            try await store.write { try $0.save(row) }
        }
        #expect(try folder.fileNames.count == 1)
        // The column's own limit.
        let large = Data(count: 5 << 20 + 1)
        let result = await kind {
            try await store.withFile(large) { file in
                var film = Values<Films>()
                film[Films.id] = 8
                film[Films.poster] = file
                let row = film
                try await store.write { try $0.save(row) }
            }
        }
        #expect(result == .rejected)
        #expect(try folder.fileNames.count == 1)
    }

    @Test @MainActor func exampleOfADownloadRuns() async throws {
        let (store, destination) = (try await folder.open([Films.self]), folder.url.appending(path: "download"))
        try await withScriptedOrigin { origin in
            origin.on("/films/7", respond: .bytes([1, 2, 3]))
            let network = NetworkLayer(transport: try NIOTransport())
            network.configure(RentalService.self) { $0.baseURLs = [.release: origin.baseURL] }
            let films = DownloadManager<RentalFilm>(on: network, to: { _ in destination })
            try await films.landing(of: RentalFilm(id: 7), in: store) { file, film in
                var row = Values<Films>()
                row[Films.id] = 7
                row[Films.film] = film
                try file.save(row)
            }
        }
        let row = try await store.read { try $0.fetchFirst(Films.self) }
        let film = try #require(row?[Films.film])
        #expect(try Data(contentsOf: try await store.url(of: film)) == Data([1, 2, 3]))
        #expect(!FileManager.default.fileExists(atPath: destination.path))
    }
}
