#if Command
    /// The listings that a request selects. `nil` means any.
    struct ListingFilter: Sendable {
        var city: City?
        var district: District?
        /// In the unit of ``Listing/price``.
        var maximumPrice: Int?

        func accepts(_ listing: Listing) -> Bool {
            if let city, listing.city.code != city.code { return false }
            if let district, listing.district.code != district.code { return false }
            if let maximumPrice, listing.price > maximumPrice { return false }
            return true
        }
    }

    /// A run of the listings that a filter accepts, newest first, and how many it accepts in all.
    struct ListingPage: Sendable {
        let listings: ArraySlice<Listing>
        let total: Int
        /// Whether more listings follow this page.
        let hasMore: Bool
    }

    extension ListingCatalogue {
        /// `limit` listings of `kind` that `filter` accepts, after the first `offset` of them.
        func page(of kind: Listing.Kind, filter: ListingFilter, offset: Int, limit: Int) -> ListingPage {
            let accepted = listings(of: kind).filter(filter.accepts)
            let rest = accepted.dropFirst(offset)
            return ListingPage(listings: rest.prefix(limit), total: accepted.count, hasMore: rest.count > limit)
        }
    }
#endif
