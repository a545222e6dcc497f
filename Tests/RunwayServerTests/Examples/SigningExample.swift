import HTTPTypes
import Hummingbird
import NIOCore
import RunwayServer
import RunwaySignatures

// The examples in docs/signing.md and in the doc comments of SignatureMiddleware, SignedRequestContext, PublicOrigin and EnrolmentRoutes,
// line by line. They are compiled and not run.

enum SigningExample {
    struct AppContext: SignedRequestContext {
        var coreContext: CoreRequestContextStorage
        let remoteAddress: SocketAddress?
        var signer: VerifiedSigner?

        init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
            remoteAddress = source.channel.remoteAddress
        }
    }

    static func makeSignedApplication(keys: InMemoryKeyDirectory) -> some ApplicationProtocol {
        let origin = PublicOrigin("api.example.com")
        precondition(origin.scheme == "https")
        let router = Router(context: BasicSignedRequestContext.self)
        let rules = SignatureRules(tag: "app", origin: PublicOrigin("api.example.com"))
        router.add(middleware: SignatureMiddleware(rules, keys: keys))
        router.get("orders") { request, context in "orders of \(context.signer?.owner ?? "")" }
        return Application(router: router)
    }

    static func addVerification(to router: Router<BasicSignedRequestContext>, keys: InMemoryKeyDirectory) {
        let rules = SignatureRules(tag: "shop-app", origin: PublicOrigin("api.example.com"))
        router.add(middleware: SignatureMiddleware(rules, keys: keys))
    }

    @Sendable static func account(of request: Request) -> String? { request.headers[.authorization] }

    static func addEnrolment(
        to router: Router<AppContext>, _ rules: EnrolmentRules, _ signatureRules: SignatureRules,
        keys: InMemoryKeyDirectory
    ) {
        EnrolmentRoutes(rules, keys: keys) { request, _ in account(of: request) }.add(to: router.group("v1"))
        router.add(middleware: SignatureMiddleware(signatureRules, keys: keys))
    }
}
