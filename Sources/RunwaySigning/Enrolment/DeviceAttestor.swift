public import RunwaySignatures

/// Creates evidence of the device's platform for an enrolment, such as with Apple's App Attest.
///
/// With App Attest, the implementation calls `attestKey` for a new key of `DCAppAttestService`, and `generateAssertion`
/// for a previously attested key, both with the SHA-256 of the statement as `clientDataHash`. The data of an assertion
/// are the 32-byte identifier of its key, followed by the bytes that the service returned.
public protocol DeviceAttestor: Sendable {
    /// Returns evidence for the bytes of a statement. If it throws, the enrolment fails.
    func evidence(for statement: [UInt8]) async throws -> DeviceEvidence
}
