import Runway
import RunwayTesting

extension NetworkLayer {
    /// A layer whose calls go to `baseURL` over a session of the platform's.
    convenience init(
        overURLSessionTo baseURL: String, _ configuration: URLSessionTransport.Configuration = .init(),
        clock: LayerClock = .system, sinks: [any EventSink] = []
    ) throws {
        self.init(
            transport: URLSessionTransport(configuration: configuration), clock: clock, sinks: sinks,
            limits: LayerLimits(admission: .none, retrying: .none))
        configure(TestService.self) { $0.baseURLs = [.release: baseURL] }
    }
}
