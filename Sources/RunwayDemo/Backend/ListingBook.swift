#if Command
    import Synchronization

    /// The listings that all teams serve, which may be edited while they are served.
    final class ListingBook: Sendable {
        /// Guards the listings.
        private let state: Mutex<ListingCatalogue>

        init(_ catalogue: ListingCatalogue) {
            state = Mutex(catalogue)
        }

        /// The listings as they are now. Every response is made from one such state.
        var catalogue: ListingCatalogue { state.withLock { $0 } }

        func apply(_ edit: ListingCatalogue.Edit) {
            state.withLock { $0.apply(edit) }
        }
    }
#endif
