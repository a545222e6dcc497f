import Foundation
import HTTPTypes
import Runway
import RunwayJSON

// The examples in the doc comments of the parts that an app configures, line by line. They are compiled and not run.

@MainActor final class RentalScreen {
    private let rentals: any APIManaging
    private let photos: any APIManaging
    private var title = ""
    private var isShowingPhotos = false

    init(rentals: any APIManaging, photos: any APIManaging) { (self.rentals, self.photos) = (rentals, photos) }

    func apiManagerDidSucceed(_ manager: any APIManaging) {
        if manager === rentals {
            title = "\(manager.rawData?["total"].int ?? 0) homes"
        } else if manager === photos {
            isShowingPhotos = true
        }
    }
}

struct Booking: Endpoint {
    static let service = Listings.self
    static let method = HTTPRequest.Method.post
    static let encoding = ParameterEncoding.json(dates: .secondsSince1970)
    var path: EndpointPath { "bookings" }
    var home: Int
    var day: Date
}

struct FilteredList: Endpoint {
    static let service = Listings.self
    static let encoding = ParameterEncoding.query(QueryStyle(arrays: .brackets, writesDigits: true))
    var path: EndpointPath { "rental/filtered" }
    var cities: [String]
    var isNew: Bool
}

func evict(from network: NetworkLayer) {
    network.cache.clear(RentalList.self)  // a home was sold
    network.cache.trim(byteCount: 8 << 20)  // the app moved to the background
}

func makeLayer(over transport: any Transport, whoseServerIsAheadBy serverOffset: TimeInterval) -> NetworkLayer {
    let clock = LayerClock(ContinuousClock(), wall: { Date.now.addingTimeInterval(serverOffset) })
    let network = NetworkLayer(transport: transport, clock: clock)
    return network
}

func makeLayerForPhotos(over transport: any Transport) -> NetworkLayer {
    let limits = CacheLimits(maximumByteCount: 8 << 20, maximumByteCountByKind: [.images: 24 << 20])
    let network = NetworkLayer(transport: transport, limits: LayerLimits(cache: limits))
    return network
}

enum Places {
    enum Shop: APIService {
        static let environments: [ServiceEnvironment: String] = [
            .development: "http://localhost:8080", "test": "https://test.example.com",
            .release: "https://api.example.com",
        ]
    }
}
