import HTTPTypes
import Runway
import RunwaySignatures

/// Verifies that a response has a signature by the server for its request.
struct VerificationOfResponse: Sendable {
    let policy: VerificationPolicy
    let keys: any KeyDirectory
    let structuredFieldTypes: [String: StructuredFieldType]
    let time: UnixTime

    func verify(_ response: Response, to request: HTTPRequest) async throws(NetworkError) -> Response {
        let status = response.head.status
        if response.isDecoded {
            throw NetworkError(
                .notTrusted, in: .signing, "The digest of the response can't be verified, since its coding was undone.",
                status: status)
        }
        // No nonce store is needed, since only the policy's own nonce is accepted, once.
        let verifier = SignatureVerifier(
            policy: policy, keys: keys, nonces: NonceMemory(startedAt: time, maximumNonces: 1))
        var response = response
        do throws(SignatureRefusal) {
            let context = SignatureContext(
                response.head, to: request, structuredFieldTypes: structuredFieldTypes)
            let signature = try await verifier.verify(
                context, hasBody: response.hasBody(of: request.method), at: time)
            switch response.body {
            case .whole(let rawData):
                if request.method != .head { try signature.verifyBody(rawData.bytes, at: time) }
            case .stream(let stream):
                if let digest = signature.digest, request.method != .head {
                    response.body = .stream(stream.verified(digest, status))
                }
            }
        } catch {
            throw NetworkError(refusing: error, status)
        }
        return response
    }
}

extension Response {
    fileprivate func hasBody(of method: HTTPRequest.Method) -> Bool {
        if case .whole(let rawData) = body { return !rawData.bytes.isEmpty }
        let hasNone = method == .head || [204, 304].contains(head.status.code)
        return !hasNone && head.headerFields[.contentLength] != "0"
    }
}

extension BodyStream {
    /// Returns a copy of this stream that throws an error at its end if the digest does not match the bytes.
    fileprivate func verified(_ digest: BodyDigest, _ status: HTTPResponse.Status) -> BodyStream {
        BodyStream {
            var parts = makeAsyncIterator()
            var digester = BodyDigester(digest.algorithms)
            return {
                if let part = try await parts.next() {
                    digester.update(part)
                    return part
                }
                do throws(SignatureError) {
                    try digest.verify(digester.finish())
                } catch {
                    throw NetworkError(
                        .notTrusted, in: .signing, "The body of the response is not the one that the server signed.",
                        status: status, underlying: error)
                }
                return nil
            }
        }
    }
}

extension NetworkError {
    fileprivate init(refusing refusal: SignatureRefusal, _ status: HTTPResponse.Status) {
        let detail =
            refusal.reason == .unsigned
            ? "The response has no signature of the server."
            : "The signature of the response was refused: \(refusal.reason)."
        self.init(.notTrusted, in: .signing, detail, status: status, underlying: refusal)
    }
}
