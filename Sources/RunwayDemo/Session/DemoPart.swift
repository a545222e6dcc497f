#if Command
    /// A part of the demo. Each part can be played separately.
    package enum DemoPart: String, Sendable, CaseIterable, Codable {
        case lists, map, details, cache, refresh, sharing, filter, leaving, parameters, failures, paging, merging, login
        case outage, signing, addresses, log, train, chat, saving, devices, bundles, views

        /// The user's action, or an event in the app's surroundings.
        package var action: String {
            switch self {
            case .lists: "The user opens the lists of three teams"
            case .map: "The user switches a list to the map"
            case .details: "The user opens two homes; one does not exist"
            case .cache: "The user opens the same home six times"
            case .refresh: "The user pulls to refresh five times"
            case .sharing: "Eight tabs refresh the same list at once"
            case .filter: "The user changes the filter four times, quickly"
            case .leaving: "The user leaves a screen that is loading"
            case .parameters: "A controller asks for page 0"
            case .failures: "Services fail, each in its own way"
            case .paging: "The user scrolls to the end of an edited list"
            case .merging: "The user opens a screen with nine homes"
            case .login: "The access token expires under ten calls"
            case .outage: "The server is down, and comes back"
            case .signing: "Others pose as the app, and its key is rotated"
            case .addresses: "One host has four addresses"
            case .log: "The app is killed while it sends its log"
            case .train: "On a train the user opens a home and makes three offers"
            case .chat: "Two users chat; one loses the network and writes on"
            case .saving: "The app is killed, and opened without a server"
            case .devices: "Two devices change notes; one is on a train"
            case .bundles: "The shop's page comes in bundles; one is broken"
            case .views: "A bundle brings a new card with a marquee"
            }
        }

        /// The effect of the action in the network layer.
        package var effect: String {
            switch self {
            case .lists: "Each team has its own format; one reformer makes the same rows of all."
            case .map: "The response is fetched once and reformed twice: as rows and as pins."
            case .details: "The service reports it with status 200; the controller gets an error."
            case .cache: "One request; five times the response was in memory when load returned."
            case .refresh: "One request; the other four calls join it."
            case .sharing: "They share one request; a ninth, with another list, has its own."
            case .filter: "Each change cancels the call before it. Only the newest lands."
            case .leaving: "The call is cancelled with its controller, and nothing lands."
            case .parameters: "The endpoint refuses its parameters, and nothing is sent."
            case .failures: "Each error says what happened and where; only 503 is tried again."
            case .paging: "Rows move while pages load; none is missing and none appears twice."
            case .merging: "Nine calls leave in one request; the list beside them has its own."
            case .login: "One renewal for all; then the ten requests are sent again."
            case .outage: "After five failures calls fail at once, until one call finds it back."
            case .signing: "The server refuses what the app did not sign; a new key fails no call."
            case .addresses: "The nearest is used, and others where it fails."
            case .log: "It sends the rest when it starts again; each action arrives once."
            case .train: "The home comes from disk; offers go out later, though the app is killed."
            case .chat: "What was written without a network goes out later; nothing comes twice."
            case .saving: "A list, a saved home with its picture and an offer are in its tables."
            case .devices: "Both end equal; the user is asked about the one real conflict."
            case .bundles: "After two launches the last good one returns; 30 % get the next first."
            case .views: "The card is JSON: one edit makes the new card of the one on the screen."
            }
        }
    }
#endif
