/// The ordered list of stages that every request of a layer passes, from the caller down to the wire.
///
/// It has the names of the places and the app's own stages. A ``NetworkLayer`` creates the default stages when it is created.
public struct RequestPipeline: Sendable {
    /// The stage at a place.
    private enum Entry: Sendable {
        /// The stage of `DefaultStages.swift`.
        case standard(FlightStep, MakeStage)
        /// A stage of the app's own.
        case custom(any RequestStage)
    }

    /// The stages, from the caller down.
    private var entries: [(place: StagePlace, entry: Entry)]

    /// The default stages, in the order of `DefaultStages.swift`.
    public init() {
        entries = Self.defaultStages.compactMap { place, make in
            make.map { (place, .standard(.stage(place), $0)) }
        }
    }

    /// The names of the stages, from the caller down.
    public var steps: [FlightStep] {
        entries.map { _, entry in
            switch entry {
            case .standard(let step, _): step
            case .custom(let stage): stage.step
            }
        }
    }

    /// Inserts a stage of the app's own above a named place, and above the stages that were inserted there before.
    public mutating func insert(_ stage: any RequestStage, before place: StagePlace) {
        let index = entries.firstIndex { $0.place >= place } ?? entries.endIndex
        entries.insert((place, .custom(stage)), at: index)
    }

    /// Inserts a stage of the app's own below a named place, and below the stages that were inserted there before.
    public mutating func insert(_ stage: any RequestStage, after place: StagePlace) {
        let index = entries.lastIndex { $0.place <= place }.map { $0 + 1 } ?? entries.startIndex
        entries.insert((place, .custom(stage)), at: index)
    }

    /// Removes the stages at a place, such as ``StagePlace/redirecting`` for a proxy, whose client follows redirects itself.
    public mutating func remove(_ place: StagePlace) {
        entries.removeAll { $0.place == place }
    }

    /// Creates the chain that the requests of a layer pass.
    func chain(of parts: LayerParts) -> StageChain {
        StageChain(
            entries.map { place, entry in
                switch entry {
                case .standard(_, let make): StageChain.Link(place: place, stage: make(parts))
                case .custom(let stage): StageChain.Link(place: place, stage: stage)
                }
            })
    }
}
