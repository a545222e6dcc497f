#if os(Linux) || os(macOS)
    import Foundation
    import HTTPTypes
    import NIOCore
    import NIOPosix
    import Runway
    import Testing

    @testable import RunwayTransport

    /// What a connection must not report to an exchange, whose caller would get a wrong response or none.
    @Suite(.timeLimit(.minutes(5)))
    struct ExchangeTests {
        @Test func bodyBeforeItsHeadEndsTheProcess() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let exchange = try Exchange.onItsOwn()
                try await exchange.pool.eventLoop.submit { try exchange.receive(ByteBuffer(string: "{}")) }.get()
            }
            #expect(result?.errorText.contains("a body comes after its head") == true)
        }

        @Test func endBeforeTheHeadEndsTheProcess() async {
            let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                let exchange = try Exchange.onItsOwn()
                let loop = exchange.pool.eventLoop
                _ = await withCheckedContinuation { (caller: CheckedContinuation<Exchange.Outcome, Never>) in
                    // Both are enqueued in one turn of the loop, so that no dial fails in between.
                    loop.execute {
                        exchange.begin(caller)
                        loop.execute {
                            exchange.receiveEnd()
                            exit(EXIT_SUCCESS)
                        }
                    }
                }
            }
            #expect(result?.errorText.contains("a whole response ends after its head") == true)
        }
    }

    extension Exchange {
        /// An exchange that no connection carries.
        fileprivate static func onItsOwn() throws -> Exchange {
            let dialer = try TestDialer().dialer
            let pool = OriginPool(
                Origin(scheme: "https", host: dialHost, port: 443), on: MultiThreadedEventLoopGroup.singleton.next(),
                dialer: dialer, TransportConfiguration(), HTTP1Origins(TransportConfiguration(), dialer))
            let request = Request(head: HTTPRequest(method: .get, scheme: "https", authority: dialHost, path: "/"))
            return Exchange(
                request, try WireRequestHead(request, isTransparent: false), in: pool, isLongLived: false
            ) { _ in }
        }
    }

    extension ExitTest.Result {
        /// What the process wrote to its standard error.
        fileprivate var errorText: String { String(decoding: standardErrorContent, as: UTF8.self) }
    }
#endif
