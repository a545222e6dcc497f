import HTTPTypes
import Runway

// The examples in the doc comments of what an app passes to a layer, line by line. They are compiled and not run.

struct PrintingTransport: Transport {
    let wire: any Transport

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        let response = try await wire.send(request, in: flight)
        print(request.url, response.head.status.code)
        return response
    }
}

final class CityInterceptor: Interceptor {
    func beforeCall(to endpoint: inout any Endpoint, as flight: FlightID, by manager: (any APIManaging)?) -> Bool {
        if var list = endpoint as? RentalList {
            list.city = list.city.lowercased()
            endpoint = list
        }
        return true
    }
}

struct MissingCity: Error {}

final class CityValidator: Validator {
    func apiManager(_ manager: any APIManaging, validate endpoint: any Endpoint) throws {
        guard let list = endpoint as? RentalList, !list.city.isEmpty else { throw MissingCity() }
    }
}

struct SlowCallSink: EventSink {
    func receive(_ record: FlightRecord) {
        if record.duration > .seconds(3) { print(record.summary) }
    }
}

actor DictionaryTier: CacheTier {
    private var entries: [CacheTierKey: CacheTierEntry] = [:]

    func find(_ key: CacheTierKey) -> CacheTierEntry? { entries[key] }

    func apply(_ changes: [CacheTierChange]) {
        for change in changes {
            if case .store(let entry, let key) = change { entries[key] = entry }
            entries = entries.filter { !change.removes($0.key) }
        }
    }
}

actor DictionaryTokenStore: TokenStore {
    private var tokens: [TokenKey: AccessToken] = [:]

    func load(_ key: TokenKey) -> AccessToken? { tokens[key] }
    func save(_ token: AccessToken, at key: TokenKey) { tokens[key] = token }
    func remove(_ key: TokenKey) { tokens[key] = nil }
}

func listParameters() {
    var parameters: Parameters = ["city": "上海", "tag": "garden"]
    parameters.append("tag", "lift")
    parameters["page"] = 2
    for (name, value) in parameters { print(name, value) }
}

func printOutcome(of record: FlightRecord) {
    switch record.outcome.kind {
    case .failed: print(record.outcome.error?.description ?? "")
    case .ignored: print("call \(record.outcome.runningFlight?.description ?? "") was in flight")
    default: print(record.outcome.name)
    }
}
