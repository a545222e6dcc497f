/// The ordered list of stages that every request of a layer passes, from the caller down to the wire.
///
/// It names the places and the stages of the app's own. A ``NetworkLayer`` makes the default stages when it is made.
public struct RequestPipeline: Sendable {
    /// What stands at a place.
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

    /// Puts a stage of the app's own above a named place, and above what was put there before.
    public mutating func insert(_ stage: any RequestStage, before place: StagePlace) {
        let index = entries.firstIndex { $0.place >= place } ?? entries.endIndex
        entries.insert((place, .custom(stage)), at: index)
    }

    /// Puts a stage of the app's own below a named place, and below what was put there before.
    public mutating func insert(_ stage: any RequestStage, after place: StagePlace) {
        let index = entries.lastIndex { $0.place <= place }.map { $0 + 1 } ?? entries.startIndex
        entries.insert((place, .custom(stage)), at: index)
    }

    /// Leaves out the stages at a place, such as ``StagePlace/redirecting`` for a proxy, whose client follows redirects itself.
    public mutating func remove(_ place: StagePlace) {
        entries.removeAll { $0.place == place }
    }

    /// Makes the chain that the requests of a layer pass.
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
