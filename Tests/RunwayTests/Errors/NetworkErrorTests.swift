import HTTPTypes
import Runway
import RunwayTesting
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

    @Test func everyEndOfACallIsASentenceThatSaysWhereItArose() async throws {
        let expected: [(NetworkError.Kind, HTTPResponse.Status, String)] = [
            (.refused, .notFound, "{}"), (.needsAccessToken, .unauthorized, "{}"),
            (.overloaded, .tooManyRequests, "{}"),
            (.needsLogin, .ok, #"{"code":402}"#), (.invalidAnswer, .ok, "[]"),
            (.service(ServiceError(code: "3", message: "Closed.")), .ok, #"{"code":3,"msg":"Closed."}"#),
        ]
        for (kind, status, body) in expected {
            let error = try await StubbedLayer { _ in .json(body, status: status) }.failure(of: PaintingList())
            #expect(error.kind == kind)
            #expect(error.status == status)
            #expect(error.host == "museum.test")
            #expect(error.attempt == 1)
            #expect(error.request == "GET https://museum.test/api/paintings?app=guide&lang=zh&room=7")
            #expect(error.detail.hasSuffix(".") && error.detail.first?.isUppercase == true, "\(error.detail)")
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

    @Test func whatATransportSaysOfItselfIsKept() async throws {
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

    @Test func serviceErrorReadsAsItsCodeAndItsMessage() {
        #expect("\(ServiceError(code: "17"))" == "17")
        #expect("\(ServiceError(code: "17", message: "No such room."))" == "17: No such room.")
    }

    @Test func everyStepHasAName() {
        #expect("\(FlightStep.stage(.offlineQueue))" == "offlineQueue")
        #expect("\(FlightStep.customStage("quota"))" == "quota")
        for (step, name) in [
            (FlightStep.preparing, "preparing"), (.validating, "validating"), (.overlapping, "overlapping"),
            (.assembling, "assembling"), (.transporting, "transporting"), (.checking, "checking"),
            (.landing, "landing"),
            (.reforming, "reforming"),
        ] { #expect("\(step)" == name) }
    }
}
