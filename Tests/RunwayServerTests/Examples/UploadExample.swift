import Hummingbird
import NIOCore
import RunwayServer

// The examples in the doc comments of the server's half of resumable uploads, line by line. They are compiled and not run.

private enum ContextExample {
    struct AppContext: InterimResponseContext {
        var coreContext: CoreRequestContextStorage
        let channel: any Channel

        init(source: ApplicationRequestContextSource) {
            coreContext = CoreRequestContextStorage(source: source)
            channel = source.channel
        }
    }
}

private func store(_ body: RequestBody) async throws -> HTTPResponse.Status { .created }

private func account(of request: Request) async throws -> String { throw HTTPError(.unauthorized) }

private func receiveUploads() {
    let router = Router(context: BasicSignedRequestContext.self)
    router.put("films/{id}") { request, context in try await store(request.body) }
    let uploads = UploadRouter(router, folder: "/var/lib/app/uploads") { request, context in
        .account(try await account(of: request))
    }
    let app = Application(router: uploads)
    print(app)
}
