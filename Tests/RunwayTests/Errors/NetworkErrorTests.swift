import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

struct NetworkErrorTests {
    @Test func descriptionIsTheSentenceAndTheRequest() {
        var error = NetworkError(.noNetwork, in: .transporting, "The host could not be reached.")
        #expect("\(error)" == "The host could not be reached.")
        error.request = "GET https://h.test/a"
        error.attempt = 1
        #expect("\(error)" == "The host could not be reached. (GET https://h.test/a)")
        error.attempt = 3
        #expect("\(error)" == "The host could not be reached. (GET https://h.test/a, attempt 3)")
    }

    @Test func everyErrorsSentenceNamesItsStep() async throws {
        let expected: [(NetworkError.Kind, HTTPResponse.Status, String)] = [
            (.refused, .notFound, "{}"), (.needsAccessToken, .unauthorized, "{}"),
            (.overloaded, .tooManyRequests, "{}"),
            (.needsLogin, .ok, #"{"code":402}"#), (.invalidResponse, .ok, "[]"),
            (.service, .ok, #"{"code":3,"msg":"Closed."}"#),
        ]
        for (kind, status, body) in expected {
            let error = try await StubbedLayer { _ in .json(body, status: status) }.failure(of: PaintingList())
            #expect(error.kind == kind)
            #expect(error.status == status)
            #expect(error.host == "museum.test")
            #expect(error.attempt == 1)
            #expect(error.request == "GET https://museum.test/api/paintings?app=guide&lang=zh&room=7")
            #expect(
                error.detail.hasSuffix(kind == .service ? "." : "; the body starts with: \(body)"), "\(error.detail)")
            #expect(error.detail.first?.isUppercase == true, "\(error.detail)")
            #expect("\(error)" == "\(error.detail) (\(error.request ?? ""))")
        }
    }

    @Test func hostIsNamedWithoutItsPort() async throws {
        let layer = StubbedLayer { _ in .json("{}", status: .notFound) }
        for (environment, host) in [
            (ServiceEnvironment.release, "library.test"), (.development, "dev.library.test"),
            ("staging-7", "[2001:db8::7]"),
        ] {
            layer.network.configure(Library.self) { $0.environment = environment }
            #expect(try await layer.failure(of: QueryCall()).host == host)
        }
    }

    @Test func errorsOfATransportAreUnchanged() async throws {
        struct Below: Error {}
        let layer = StubbedLayer { _ throws(NetworkError) in
            var error = NetworkError(
                .notTrusted, in: .transporting, "The certificate is for another host.", underlying: Below())
            error.host = "other.test"
            error.attempt = 9
            throw error
        }
        let error = try await layer.failure(of: QueryCall())
        #expect(error.kind == .notTrusted && error.host == "other.test" && error.attempt == 9)
        #expect(error.underlying is Below)
    }

    @Test func undescribedErrorOfTheAppShowsItsName() async throws {
        struct Fields: Error { let password = "hunter2" }
        enum Cases: Error { case plain, token(String) }
        let errors: [(any Error, String)] = [
            (Fields(), "Fields"), (Cases.plain, "Cases.plain"), (Cases.token("hunter2"), "Cases.token"),
        ]
        for (error, text) in errors {
            let thrown = try await StubbedLayer().failure(of: Refusing(error: error))
            #expect(thrown.detail == text)
        }
    }

    @Test func noSecretReachesASinkInAnError() async throws {
        struct Fields: Error { let password = "hunter2" }
        let secret = QueryCall(given: ["a": .double(.nan), "password": "hunter2"])
        let collector = ErrorCollector()
        let layer = StubbedLayer(sinks: [collector])
        _ = try await layer.failure(of: Refusing(error: Fields()))
        _ = try await layer.failure(of: Encoding())
        _ = try await layer.failure(of: secret)
        await layer.network.flushRecords()
        #expect(collector.dumps.count == 3)
        for dump in collector.dumps { #expect(!dump.contains("hunter2"), "\(dump)") }
    }

    @Test func refusedResponseIsOnlyInTheError() async throws {
        let layer = StubbedLayer { _ in .json(#"{"field":"rent"}"#, status: .unprocessableContent) }
        let error = try await layer.failure(of: QueryCall())
        #expect(error.rawData?["field"].string == "rent")
        #expect(try await layer.record().outcome.error?.rawData == nil)
    }

    @Test func serviceErrorReadsAsItsCodeAndMessage() {
        #expect("\(ServiceError(code: "17"))" == "17")
        #expect("\(ServiceError(code: "17", message: "No such room."))" == "17: No such room.")
    }

    @Test func everyStepHasAName() {
        #expect("\(FlightStep.offlineQueue)" == "offlineQueue")
        #expect(FlightStep.offlineQueue.text == "offline queue")
        #expect("\(FlightStep.customStage("quota"))" == "quota")
        #expect(FlightStep.customStage("ownQuota").text == "ownQuota")
        for (step, name) in [
            (FlightStep.preparing, "preparing"), (.validating, "validating"), (.overlapping, "overlapping"),
            (.assembling, "assembling"), (.transporting, "transporting"), (.checking, "checking"),
            (.landing, "landing"),
            (.reforming, "reforming"),
        ] { #expect("\(step)" == name) }
    }
}

/// A call whose check refuses with an error that the test gives.
private struct Refusing: Endpoint {
    static let service = Library.self
    var path: EndpointPath { "refusing" }
    @Unencoded var error: any Error
    var parameters: Parameters { [:] }
    func validate() throws { throw error }
}

/// A call with a value that refuses to be encoded, a secret in it.
private struct Encoding: Endpoint {
    struct Locked: Encodable {
        let password = "hunter2"
        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue(self, .init(codingPath: encoder.codingPath, debugDescription: "Locked."))
        }
    }
    static let service = Library.self
    var path: EndpointPath { "encoding" }
    var locked = Locked()
}

/// Collects the texts of the errors in records.
private final class ErrorCollector: EventSink {
    /// Guards the texts.
    private let texts = Mutex<[String]>([])
    var dumps: [String] { texts.withLock { $0 } }

    func receive(_ record: FlightRecord) {
        guard let error = record.outcome.error else { return }
        var text = "\(error)"
        dump(error, to: &text)
        texts.withLock { $0.append(text) }
    }
}
