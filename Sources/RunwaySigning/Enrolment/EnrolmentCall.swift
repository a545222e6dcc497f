import HTTPTypes
import Runway

protocol EnrolmentCall: Endpoint {}

extension EnrolmentCall {
    static var encoding: ParameterEncoding { .raw(contentType: "application/json") }
    static var retry: RetryPolicy { .off }
    static var isMergeable: Bool { false }
    static var coalesces: Bool { false }
    static var maximumResponseByteCount: Int { 1 << 20 }
    func encode(to encoder: any Encoder) {}
}

struct AskForChallenge<Service: APIService>: EnrolmentCall {
    static var service: Service.Type { Service.self }
    static var name: String { "AskForChallenge" }
    static var method: HTTPRequest.Method { .post }
    let base: EndpointPath
    var path: EndpointPath { EndpointPath(stringLiteral: base.percentEncoded + "/challenge") }
}

struct EnrolKey<Service: APIService>: EnrolmentCall {
    static var service: Service.Type { Service.self }
    static var name: String { "EnrolKey" }
    static var method: HTTPRequest.Method { .post }
    let base: EndpointPath
    let json: [UInt8]
    var path: EndpointPath { base }
    var content: RequestBody { .bytes(json) }
}

struct ListKeys<Service: APIService>: EnrolmentCall {
    static var service: Service.Type { Service.self }
    static var name: String { "ListKeys" }
    let base: EndpointPath
    var path: EndpointPath { base }
}

struct RevokeKey<Service: APIService>: EnrolmentCall {
    static var service: Service.Type { Service.self }
    static var name: String { "RevokeKey" }
    static var method: HTTPRequest.Method { .delete }
    let base: EndpointPath
    let id: String
    var path: EndpointPath { EndpointPath(stringLiteral: base.percentEncoded + "/" + id) }
}
