import Foundation
import Runway
import RunwaySigning

/// A service of OAuth.
private enum Login: APIService {
    static let name = "login"
    static let environments: [ServiceEnvironment: String] = [:]
}

/// The examples of the documentation about keys of the device. They are compiled and not run.
enum EnrolmentExamples {
    static func makePipeline(_ policy: SigningPolicy, folder: URL) -> RequestPipeline {
        let keys = DeviceKeys(in: FileTokenStore(folder: folder))
        var pipeline = RequestPipeline()
        pipeline.insert(SigningStage(for: Shop.self, policy, keys: keys), before: .signing)
        return pipeline
    }

    #if canImport(Darwin)
        static func makeHardwareKeys() -> DeviceKeys {
            let keys = DeviceKeys(in: KeychainTokenStore(), maker: .secureEnclave ?? .software)
            return keys
        }
    #endif

    static func insertStages(into pipeline: inout RequestPipeline, _ policy: SigningPolicy, folder: URL) {
        let keys = DeviceKeys(in: FileTokenStore(folder: folder))
        pipeline.insert(SigningStage(for: Shop.self, policy, keys: keys), before: .signing)
        pipeline.insert(DPoPStage(for: Login.self, keys: keys), before: .signing)
    }

    static func makeSigningLayer(over transport: any Transport, folder: URL) async throws -> NetworkLayer {
        let keys = DeviceKeys(in: FileTokenStore(folder: folder))
        var pipeline = RequestPipeline()
        let policy = SigningPolicy(.signature(tag: "shop-app"))
        pipeline.insert(SigningStage(for: Shop.self, policy, keys: keys), before: .signing)
        let network = NetworkLayer(transport: transport, pipeline: pipeline)
        // After login:
        try await DeviceEnrolment(at: Shop.self, in: network, keys: keys).enrol()
        return network
    }

    static func enrol(in network: NetworkLayer, keys: DeviceKeys) async throws {
        let enrolment = DeviceEnrolment(at: Shop.self, in: network, keys: keys)
        try await enrolment.enrol()
    }

    static func makeKeys(in network: NetworkLayer, folder: URL) async throws -> DeviceKeys {
        let deviceKeys = DeviceKeys(in: FileTokenStore(folder: folder))
        let enrolment = DeviceEnrolment(at: Shop.self, in: network, keys: deviceKeys)
        try await enrolment.enrol()
        return deviceKeys
    }
}
