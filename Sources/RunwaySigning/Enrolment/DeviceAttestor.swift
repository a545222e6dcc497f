public import RunwaySignatures

/// Makes evidence of the device's platform for an enrolment, such as Apple's App Attest.
///
/// With App Attest, the implementation calls `attestKey` for a new key of `DCAppAttestService`, and `generateAssertion`
/// for a key that was attested before, both with the SHA-256 of the statement as `clientDataHash`. An assertion
/// consists of the identifier of its key, 32 bytes, and the bytes that the service returned.
public protocol DeviceAttestor: Sendable {
    /// Returns the evidence for the bytes of a statement. If it throws, the enrolment fails.
    func evidence(for statement: [UInt8]) async throws -> DeviceEvidence
}
