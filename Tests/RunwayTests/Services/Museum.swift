import HTTPTypes
import Runway
import RunwayJSON

/// A service with an envelope: `{"code":0,"result":…}`, whatever the status says.
enum Museum: APIService {
    static let name = "museum"
    static let environments: [ServiceEnvironment: String] = [.release: "https://museum.test/api"]
    static let commonParameters: Parameters = ["app": "guide", "lang": "zh"]
    static let commonHeaders = ["X-App": "guide", "Accept-Language": "zh"]
    static let deadline = Duration.seconds(20)

    static func judge(_ head: HTTPResponse, rawData: RawData?) -> Verdict {
        let verdict = Verdict(status: head.status, headerFields: head.headerFields)
        guard verdict == .fine, let rawData else { return verdict }
        if let error = rawData.json.invalidDocumentError { return .malformed("\(error)") }
        guard let code = rawData["code"].int else { return .malformed("\"code\" is missing.") }
        switch code {
        case 0: return .fine
        case 401: return .tokenRefused
        case 402: return .loginNeeded
        case 429: return .overloaded(retryAfter: .seconds(3))
        case 900...: return .failed(ServiceError(code: "\(code)"), isAbsorbed: true)
        default:
            return .failed(ServiceError(code: "\(code)", message: rawData["msg"].string ?? ""), isAbsorbed: false)
        }
    }
}

struct PaintingList: Endpoint {
    static let service = Museum.self
    var path: EndpointPath { "paintings" }
    var room = 7
    @Unencoded var fields: [String: String] = [:]
    var headers: [String: String] { fields }
}
