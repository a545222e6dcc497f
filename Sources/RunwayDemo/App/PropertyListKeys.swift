#if Command
    import Runway

    /// The values that a row of a property list shows. A view needs this file and not the reformer that sets them.
    enum PropertyListKeys: ViewKeySpace {
        static let id = key("id", of: String.self)
        static let title = key("title", of: String.self)
        static let price = key("price", of: String.self)
        static let area = key("area", of: String.self)
        static let place = key("place", of: String.self)
    }
#endif
