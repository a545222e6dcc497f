#if Command
    /// The reasons for which the backend refuses requests. Each team uses an envelope and a status of its own.
    enum BackendFailure: Error, Equatable {
        /// A parameter that can't be read or is out of bounds.
        case badParameter(name: String, found: String, expected: String)
        /// A city, or a district of a city, that the catalogue does not have.
        case unknownPlace(String)
        case noSuchListing(String)
        /// The caller should get a new token, without involving the user.
        case tokenExpired
        /// The caller's user must log in again.
        case loginRequired
        /// A remark of the service team to its client team, which does not concern business code.
        case housekeeping

        /// The number that teams with numeric codes use.
        var code: Int {
            switch self {
            case .unknownPlace: 1001
            case .badParameter: 1002
            case .noSuchListing: 1404
            case .tokenExpired: 2001
            case .loginRequired: 2002
            case .housekeeping: 3001
            }
        }

        /// The word that teams without numeric codes use.
        var name: String {
            switch self {
            case .unknownPlace: "unknown_place"
            case .badParameter: "bad_parameter"
            case .noSuchListing: "no_such_listing"
            case .tokenExpired: "token_expired"
            case .loginRequired: "login_required"
            case .housekeeping: "housekeeping"
            }
        }

        /// A sentence in English for developers.
        var message: String {
            switch self {
            case .badParameter(let name, let found, let expected):
                "parameter \"\(name)\" is \"\(found)\", expected \(expected)"
            case .unknownPlace(let place): "unknown city or district \"\(place)\""
            case .noSuchListing(let id): "no listing \"\(id)\""
            case .tokenExpired: "the access token has expired"
            case .loginRequired: "the session has ended, please log in"
            case .housekeeping: "this API moves to another host next month"
            }
        }
    }
#endif
