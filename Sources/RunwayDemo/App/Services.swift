#if Command
    import HTTPTypes
    import Runway
    import RunwayJSON

    /// The second-hand team's service. The JSON object around its data has an error object in addition to
    /// `"status":"error"`.
    enum SecondHandService: APIService {
        static let name = "second-hand"
        static let environments: [ServiceEnvironment: String] = [:]

        static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
            guard let rawData, let status = rawData["status"].string else {
                return Verdict(status: head.status, headerFields: head.headerFields, malformed: rawData)
            }
            if status == "ok" { return .fine }
            let error = rawData["error"]
            return Verdict(teamError: error["code"].int ?? 0, error["message"].string)
        }
    }

    /// The rental team's service. `code` in the JSON object around its data is 0 or an error number.
    enum RentalService: APIService {
        static let name = "rental"
        static let environments: [ServiceEnvironment: String] = [:]
        static let deadline = Duration.seconds(30)

        static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
            Verdict(coded: head, rawData)
        }
    }

    /// The service for members' data. Its responses have the format of the rental team, and its calls have an access
    /// token.
    enum MemberService: APIService {
        static let name = "member"
        static let environments: [ServiceEnvironment: String] = [:]
        static let credentials: (any Credentials)? = MemberCredentials()

        static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
            Verdict(coded: head, rawData)
        }
    }

    /// The new-homes team's service. `error` in the JSON object around its data is null or the name of an error. Its
    /// server accepts several requests merged into one.
    enum NewHomesService: APIService {
        static let name = "new-homes"
        static let environments: [ServiceEnvironment: String] = [:]
        /// HTTP/2 makes merging unnecessary. The demo merges the requests of a showroom only to show the feature.
        static let merging: MergePolicy? = MergePolicy(
            maximumCount: showroomCount, wait: .seconds(1), mergesOverHTTP2: true)
        static let showroomCount = 9

        static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
            guard let rawData, case let error = rawData["error"], error.isNull || error["name"].exists else {
                return Verdict(status: head.status, headerFields: head.headerFields, malformed: rawData)
            }
            if error.isNull { return .fine }
            return .failed(
                ServiceError(code: error["name"].string ?? "", message: error["detail"].string ?? ""), isAbsorbed: false
            )
        }
    }

    extension Verdict {
        /// Creates the verdict on a response that lacks the JSON object of its team. If the status is not a success,
        /// the status decides. Otherwise the response is invalid.
        fileprivate init(status: HTTPResponse.Status, headerFields: HTTPFields, malformed rawData: RawData?) {
            self.init(status: status, headerFields: headerFields)
            guard self == .fine, let rawData else { return }
            self = .malformed(rawData.json.invalidDocumentError.map { "\($0)" } ?? "it has another shape.")
        }

        /// Creates the verdict on a response whose JSON object has the member `code`, which is 0 or an error number.
        fileprivate init(coded head: HTTPResponse, _ rawData: RawData?) {
            if let rawData, let code = rawData["code"].int {
                self = code == 0 ? .fine : Verdict(teamError: code, rawData["message"].string)
            } else {
                self.init(status: head.status, headerFields: head.headerFields, malformed: rawData)
            }
        }

        /// Creates the verdict for an error number of the second-hand and rental teams.
        fileprivate init(teamError code: Int, _ message: String?) {
            self =
                switch code {
                case 2001: .tokenRefused
                case 2002: .loginNeeded
                case let code: .failed(ServiceError(code: "\(code)", message: message ?? ""), isAbsorbed: code == 3001)
                }
        }
    }
#endif
