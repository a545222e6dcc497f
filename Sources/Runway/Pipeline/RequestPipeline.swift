/// The ordered list of stages that every request of a layer passes, from the caller to the transport.
///
/// The pipeline contains the names of its places, and the stages that the app inserted. A ``NetworkLayer`` creates the
/// default stages when it is created.
///
/// ```swift
/// var pipeline = RequestPipeline()
/// pipeline.insert(TenantStage(tenant: tenant), before: .reading)
/// return NetworkLayer(transport: transport, pipeline: pipeline)
/// ```
public struct RequestPipeline: Sendable {
    private enum Entry: Sendable {
        /// A stage listed in `DefaultStages.swift`.
        case standard(MakeStage)
        /// A stage that the app inserted.
        case custom(any RequestStage)
    }

    /// The places of the pipeline, from the caller to the transport. Some have no default stage.
    public static let places: [FlightStep] = defaultStages.map(\.place)

    /// The stages, from the caller to the transport, each with the index of its place.
    private var entries: [(index: Int, entry: Entry)]

    /// Creates a pipeline of the default stages, in the order of `DefaultStages.swift`.
    public init() {
        entries = Self.defaultStages.enumerated().compactMap { index, stage in
            stage.make.map { (index, .standard($0)) }
        }
    }

    /// The steps of the stages, from the caller to the transport.
    public var steps: [FlightStep] {
        entries.map { index, entry in
            switch entry {
            case .standard: Self.places[index]
            case .custom(let stage): stage.step
            }
        }
    }

    /// Inserts a stage of the app before a place, and before stages that were already inserted there.
    ///
    /// - Precondition: `place` is one of ``places``.
    public mutating func insert(_ stage: any RequestStage, before place: FlightStep) {
        let place = Self.index(of: place)
        let position = entries.firstIndex { $0.index >= place } ?? entries.endIndex
        entries.insert((place, .custom(stage)), at: position)
    }

    /// Inserts a stage of the app after a place, and after stages that were already inserted there.
    ///
    /// - Precondition: `place` is one of ``places``.
    public mutating func insert(_ stage: any RequestStage, after place: FlightStep) {
        let place = Self.index(of: place)
        let position = entries.lastIndex { $0.index <= place }.map { $0 + 1 } ?? entries.startIndex
        entries.insert((place, .custom(stage)), at: position)
    }

    /// Removes the stages at a place. For example, a proxy removes ``FlightStep/redirecting`` if its client follows
    /// redirects.
    ///
    /// - Precondition: `place` is one of ``places``.
    public mutating func remove(_ place: FlightStep) {
        let place = Self.index(of: place)
        entries.removeAll { $0.index == place }
    }

    private static func index(of place: FlightStep) -> Int {
        guard let index = places.firstIndex(of: place) else {
            preconditionFailure("The step \(place) is not a place of the pipeline.")
        }
        return index
    }

    /// Creates the chain of stages that the requests of a layer pass.
    func chain(of parts: LayerParts) -> StageChain {
        StageChain(
            entries.map { _, entry in
                switch entry {
                case .standard(let make): make(parts)
                case .custom(let stage): stage
                }
            })
    }
}
