import Runway
import RunwayFormats
import RunwayJSON

/// Opens the connections of a stream (links), and changes the topics of an open connection.
protocol LinkSource: Sendable {
    /// The endpoint that appears in records and that reformers receive.
    var endpoint: any Endpoint { get }
    var account: StreamAccount { get }
    /// Sends the request of a connection, and returns the head and body of the response.
    func open(
        after lastEventID: String, topics: Set<String>?, heartbeat: Duration
    ) async throws(NetworkError) -> StreamedResponse
    /// Changes the topics of an open connection. If there is no topic to change, asks for a heartbeat.
    ///
    /// - Returns: The topics that the server refuses on the connection, if the response names them.
    func change(
        _ connection: String, adding: Set<String>, removing: Set<String>
    ) async throws(NetworkError) -> Set<String>
}

struct EndpointLinks<E: EventStreamEndpoint>: LinkSource {
    let network: NetworkLayer
    let stream: E
    let account: StreamAccount
    let paddingByteCount: Int
    var endpoint: any Endpoint { stream }

    func open(
        after lastEventID: String, topics: Set<String>?, heartbeat: Duration
    ) async throws(NetworkError) -> StreamedResponse {
        try account.check()
        var options = CallOptions()
        options.isLongLived = true
        return try await network.stream(
            LinkOpening(
                endpoint: stream, topics: topics, lastEventID: lastEventID, heartbeat: heartbeat,
                paddingByteCount: paddingByteCount),
            options: options)
    }

    func change(
        _ connection: String, adding: Set<String>, removing: Set<String>
    ) async throws(NetworkError) -> Set<String> {
        try account.check()
        return try await network.call(
            TopicsCall(endpoint: stream, connection: connection, add: adding, remove: removing)
        ).refusedTopics
    }
}

extension RawData {
    /// The refused topics in the response to a change of topics. Empty if the body is too long for such a response.
    var refusedTopics: Set<String> {
        guard bytes.count <= 1 << 20 else { return [] }
        return json.refusedTopics
    }
}
