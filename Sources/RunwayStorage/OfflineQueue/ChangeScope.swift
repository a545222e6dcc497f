import Runway
import RunwayJSON

/// An account of a service in an environment. Changes of one scope are sent in order.
struct ChangeScope: Sendable, Hashable {
    var service: String
    var environment: String
    var account: String?

    init(service: String, environment: String, account: String?) {
        self.service = service
        self.environment = environment
        self.account = account
    }

    init(_ change: UnsentChange) {
        self.init(
            service: Self.service(of: change.endpoint), environment: change.environment.name, account: change.account)
    }

    init?(_ text: String) {
        guard let json = try? JSONDocument(text).root, let service = json[0].string, let environment = json[1].string
        else { return nil }
        self.init(service: service, environment: environment, account: json[2].string)
    }

    /// The scope of the same service and environment without an account.
    var ofNobody: ChangeScope { ChangeScope(service: service, environment: environment, account: nil) }

    var text: String {
        var writer = JSONWriter()
        writer.beginArray()
        writer.string(service)
        writer.string(environment)
        if let account { writer.string(account) } else { writer.null() }
        writer.endArray()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    static func service(of endpoint: any Endpoint.Type) -> String {
        func name<E: Endpoint>(_ endpoint: E.Type) -> String { E.Service.name }
        return name(endpoint)
    }
}
