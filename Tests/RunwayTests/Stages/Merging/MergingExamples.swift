import Runway

// What the article on merging shows.

enum Catalogue: APIService {
    static let name = "catalogue"
    static let environments: [ServiceEnvironment: String] = [.release: "https://api.example.com/v2"]
    static let merging: MergePolicy? = .standard
}
