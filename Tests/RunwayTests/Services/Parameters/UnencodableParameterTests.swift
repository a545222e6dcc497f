import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Testing

/// What can't be written fails the call before anything is sent, in one error that names the parameter.
struct UnencodableParameterTests {
    private func nested(_ depth: Int) -> ParameterValue {
        (0..<depth).reduce(.integer(1)) { value, _ in .array([value]) }
    }

    private func expectRefusal(_ parameters: Parameters, naming path: String, saying detail: String) async throws {
        let layer = StubbedLayer()
        for error in [
            try await layer.failure(of: QueryCall(given: parameters)),
            try await layer.failure(of: FormCall(given: parameters)),
            try await layer.failure(of: JSONCall(given: parameters)),
        ] {
            #expect(error.kind == .invalidParameters)
            #expect(error.step == .assembling)
            #expect(error.detail == "The parameter \"\(path)\" is \(detail)")
            #expect(error.underlying is UnencodableParameter)
            #expect(error.attempt == 0)
        }
        #expect(layer.transport.requests.isEmpty)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func numberThatIsNotFiniteIsRefused(_ number: Double) async throws {
        try await expectRefusal(
            ["price": ["low": .double(number)]], naming: "price.low", saying: "a number that is not finite.")
        try await expectRefusal(
            ["prices": [1, .double(number)]], naming: "prices[1]", saying: "a number that is not finite.")
    }

    @Test func decimalThatIsNoNumberIsRefused() async throws {
        try await expectRefusal(["p": .decimal(.nan)], naming: "p", saying: "a number that is not finite.")
    }

    @Test(arguments: [-62_167_219_201, 253_402_300_800, 1e300, .infinity, .nan])
    func dateOutsideTheFourDigitYearsIsRefused(_ seconds: Double) async throws {
        try await expectRefusal(
            ["since": .date(Date(timeIntervalSince1970: seconds))], naming: "since",
            saying: "a date outside the years 0 to 9999.")
    }

    @Test(arguments: [DateStyle.iso8601, .secondsSince1970, .millisecondsSince1970])
    func everyStyleRefusesTheSameDates(_ style: DateStyle) {
        let parameters: Parameters = ["since": .date(.distantFuture.addingTimeInterval(1e15))]
        #expect(throws: UnencodableParameter.dateOutOfRange("since")) {
            try QueryStyle(dates: style).text(parameters)
        }
    }

    @Test func excessNestingIsRefusedWhereItIsReached() async throws {
        let place = "a" + String(repeating: "[0]", count: 65)
        try await expectRefusal(["a": nested(65)], naming: place, saying: "nested deeper than 64.")
        try await expectRefusal(["a": nested(1000)], naming: place, saying: "nested deeper than 64.")
        let objects = (0..<1000).reduce(ParameterValue.integer(1)) { value, _ in .object(["o": value]) }
        try await expectRefusal(
            ["a": objects], naming: "a" + String(repeating: ".o", count: 65), saying: "nested deeper than 64.")
    }

    @Test func nestingUpToTheBoundIsWritten() async throws {
        let layer = StubbedLayer()
        let query = try await layer.request(of: QueryCall(given: ["a": nested(64)]))
        #expect(query.head.path == "/v1/query?a=1")
        let json = try await layer.request(of: JSONCall(given: ["a": nested(64)]))
        #expect(json.body.text?.utf8.count == 128 + #"{"a":1}"#.utf8.count)
    }

    @Test func nestedValuesCanNotBeJoinedByCommas() {
        let style = QueryStyle(arrays: .commas)
        #expect(throws: UnencodableParameter.nestedInCommas("tags")) { try style.text(["tags": ["a", ["b"]]]) }
        #expect(throws: UnencodableParameter.nestedInCommas("tags")) { try style.text(["tags": [["b": 1]]]) }
    }

    @Test func customEncodingErrorHidesTheValue() async throws {
        struct Secretive: Endpoint {
            static let service = Library.self
            var path: EndpointPath { "x" }
            enum Key: String, CodingKey { case password }
            func encode(to encoder: any Encoder) throws {
                throw EncodingError.invalidValue(
                    "hunter2", .init(codingPath: [Key.password], debugDescription: "hunter2 is too short."))
            }
        }
        let error = try await StubbedLayer().failure(of: Secretive())
        #expect(error.kind == .invalidParameters)
        #expect(error.detail == "The value \"password\" of the type String can't be encoded.")
    }

    @Test func endpointWithoutNamesIsRefusedWithoutShowingItself() async throws {
        struct Bare: Endpoint {
            static let service = Library.self
            var path: EndpointPath { "x" }
            var token = "hunter2"
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(token)
            }
        }
        let error = try await StubbedLayer().failure(of: Bare())
        #expect(error.kind == .invalidParameters)
        #expect(error.detail == "The parameters of a call have names; this value has none.")
    }
}
