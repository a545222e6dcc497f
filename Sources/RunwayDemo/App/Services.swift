#if Command
    import HTTPTypes
    import Runway
    import RunwayJSON

    /// The second-hand team's service. Its envelope has an error object beside `"status":"error"`.
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

    /// The rental team's service. `code` in its envelope is 0 or the number of an error.
    enum RentalService: APIService {
        static let name = "rental"
        static let environments: [ServiceEnvironment: String] = [:]
        static let deadline = Duration.seconds(30)

        static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
            Verdict(coded: head, rawData)
        }
    }

    /// The service for members' data: its envelope is the rental team's, and its calls have an access token.
    enum MemberService: APIService {
        static let name = "member"
        static let environments: [ServiceEnvironment: String] = [:]
        static let credentials: (any Credentials)? = MemberCredentials()

        static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
            Verdict(coded: head, rawData)
        }
    }

    /// The new-homes team's service. `error` in its envelope is null, or has a name. Its server accepts several
    /// requests in one.
    enum NewHomesService: APIService {
        static let name = "new-homes"
        static let environments: [ServiceEnvironment: String] = [:]
        /// Merging is not needed over HTTP/2; the demo uses it to show it. The requests of a showroom are sent as one.
        static let merging: MergePolicy? = MergePolicy(
            maximumCount: showroomCount, wait: .seconds(1), mergesOverHTTP2: true)
        /// The number of homes in a showroom.
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
        /// Creates the verdict on a response without an envelope: the verdict on its status, or if the status is a
        /// success, that the envelope is missing.
        fileprivate init(status: HTTPResponse.Status, headerFields: HTTPFields, malformed rawData: RawData?) {
            self.init(status: status, headerFields: headerFields)
            guard self == .fine, let rawData else { return }
            self = .malformed(rawData.json.invalidDocumentError.map { "\($0)" } ?? "it has another shape.")
        }

        /// Creates the verdict on a response with `code`, which is 0 or the number of an error.
        fileprivate init(coded head: HTTPResponse, _ rawData: RawData?) {
            if let rawData, let code = rawData["code"].int {
                self = code == 0 ? .fine : Verdict(teamError: code, rawData["message"].string)
            } else {
                self.init(status: head.status, headerFields: head.headerFields, malformed: rawData)
            }
        }

        /// Creates the verdict for an error number that the first two teams share.
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
