import Runway

/// A service of which there is no server.
enum Shop: APIService {
    static let name = "shop"
    static let environments: [ServiceEnvironment: String] = [.release: "https://shop.test"]
}

struct Item: Endpoint {
    static let service = Shop.self
    var path: EndpointPath { "items" }
    var id = 1
}
