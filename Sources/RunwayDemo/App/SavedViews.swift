#if Command
    import Runway

    /// The service for pictures of second-hand homes. Its responses are bytes without a JSON object around them.
    enum PictureService: APIService {
        static let name = "pictures"
        static let environments: [ServiceEnvironment: String] = [:]
    }

    /// The picture of a second-hand home.
    struct SecondHandPicture: Endpoint {
        static let service = PictureService.self
        @Unencoded var id: String
        var path: EndpointPath { "esf/picture/\(id)" }
    }

    /// A home that the user has saved, as all views of it show it.
    struct SavedHome: Sendable {
        var id = ""
        var title = ""
        var price = ""
        var note = ""
        var pictureByteCount = 0
    }

    /// The row of a saved home in a list.
    struct SavedHomeRow {
        let line: String

        init(_ home: SavedHome) {
            line =
                "\(home.id)  \(home.title)  \(home.price) · \(home.note) · "
                + "a picture of \(home.pictureByteCount) bytes"
        }
    }

    /// The head of a saved home's screen.
    struct SavedHomeHead {
        let line: String

        init(_ home: SavedHome) { line = "\(home.title): \(home.note)" }
    }

    /// An offer that the user has not sent.
    struct OfferDraft: Sendable {
        var home = ""
        /// The offered price in 万, units of ten thousand yuan.
        var price = 0
    }
#endif
