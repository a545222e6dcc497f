#if Command
    import Runway

    extension DemoSession {
        /// A token that is taken out of use while calls with it are in flight.
        func letATokenExpire() async throws {
            let favourites = FavouritesController(network: network, screen: screen)
            try await scene("A user who logs in, and opens a folder of favourites") {
                callWithoutManager(shouldBe: "succeeded")
                let response = try await network.call(MemberLogin(name: "mei"))
                guard let token = try? AccessToken(response, account: "mei", on: network) else {
                    return note("the login returned no access token")
                }
                try await network.signIn(token, to: MemberService.self)
                call(favourites.folders.load(Favourites(folder: 1)), shouldBe: "succeeded")
                try await landed()
                shouldShow(rentals(of: 1...1))
            }
            let folders = MemberAPI.folders
            try await scene(
                "Ten calls are in flight when the access token expires: one renewal, ten requests sent again",
                repeated: [.newToken: folders.count]
            ) {
                try await arrival(of: folders.count, at: "/member/favourites") {
                    for folder in folders {
                        call(favourites.folders.load(Favourites(folder: folder, delay: 4000)), shouldBe: "succeeded")
                    }
                }
                backend.tokens.expireAll()
                gate.open()
                // The renewal, which the layer makes for all of them.
                callWithoutManager(shouldBe: "succeeded")
                try await landed()
                gate.close()
                shouldShow(rentals(of: folders))
                shouldBe(serving.statistics.routes["/member/token"]?.requests ?? 0, 1, "renewals of the access token")
            }
        }

        /// The rentals in folders.
        private func rentals(of folders: ClosedRange<Int>) -> [Listing] {
            folders.flatMap { folder in catalogue.rentals.filter { $0.number % 10 == folder % 10 }.prefix(3) }
        }
    }
#endif
