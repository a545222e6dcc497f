import ArgumentParser
import Foundation
import RunwayServerStorage

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// `runway epoch`: starts a new numbering after a backup of events or conversations was restored.
struct EpochCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "epoch", abstract: "Begin a new epoch in stores that were restored from a backup.",
        usage: "runway epoch <place> ... [<options>]",
        discussion: """
            A server that is restored from a backup gives the numbers of lost events
            and messages to new ones. Clients that have the lost ones would take the
            new ones for them. With a new epoch they discard the numbers that they
            know, and fetch again what they show.

            A place is a file of SQLiteEventLog or SQLiteChatStore, or the URL of a
            PostgreSQL database, whose event logs and conversations all get a new
            epoch. Stop the servers that use them, restore the backup, run this, and
            start the servers.

            EXAMPLES
              runway epoch events.sqlite chat.sqlite
              runway epoch postgres://db.example.com/chat --tenant shop

            EXIT CODES
              0    Every place has a new epoch.
              2    The command line or a place can't be used. Those before it have
                   a new epoch.
            """)

    @Argument(help: "A file, or postgres://….", completion: .file())
    var places: [String]

    @Option(help: ArgumentHelp("The tenant whose rows of PostgreSQL get a new epoch.", valueName: "name"))
    var tenant = "default"

    @OptionGroup var colour: ColourOption

    func run() async throws {
        for place in places {
            for (content, epoch) in try await begin(LogPlace(place)) {
                var text = ConsoleText(content, .bold, for: .output)
                text.append(": epoch \(epoch)\n")
                try Console.output.write(text)
            }
        }
    }

    /// - Throws: ``CommandFailure`` if the file or the database can't be opened or written.
    private func begin(_ place: LogPlace) async throws(CommandFailure) -> [(content: String, epoch: String)] {
        switch place {
        case .file(let path):
            let file = URL(fileURLWithPath: path)
            do throws(ServerStorageError) {
                do throws(ServerStorageError) {
                    return [("Conversations of \(path)", try SQLiteChatStore.beginEpoch(at: file))]
                } catch  where error.kind == .foreign {
                    return [("Events of \(path)", try SQLiteEventLog.beginEpoch(at: file))]
                }
            } catch {
                throw CommandFailure("No epoch was begun. \(error)")
            }
        case .postgres(let url):
            #if PostgreSQL
                do {
                    return [
                        ("Events", try await PostgreSQLEventLog.beginEpoch(at: url, tenant: tenant)),
                        ("Conversations", try await PostgreSQLChatStore.beginEpoch(at: url, tenant: tenant)),
                    ]
                } catch {
                    throw CommandFailure("No epoch was begun. \(error)")
                }
            #else
                throw LogPlace.withoutPostgreSQL(url)
            #endif
        }
    }
}
