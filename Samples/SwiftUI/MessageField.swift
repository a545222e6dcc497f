import Runway
import SwiftUI

/// The message to the owner of a home. Its draft is saved as the user types, and removed when the message is sent.
struct MessageField: View {
    let rental: Int
    let drafts: MessageDraftCenter
    @State private var text = ""
    /// The field is closed until the draft of an earlier launch is read, and while the message is sent.
    @State private var isOpen = false
    @State private var message = ""
    @State private var lastChange: Task<Void, Never>?

    var body: some View {
        TextField("Message to the owner", text: $text)
            .disabled(!isOpen)
            .onChange(of: text) { change { try await drafts.postpone(MessageDraft(rental: rental, text: text)) } }
            .task { if lastChange == nil { change(read) } }
        Button("Send the message") {
            isOpen = false
            change(send)
        }
        .disabled(!isOpen || text.isEmpty)
        Text(message)
    }

    private func read() async throws {
        defer { isOpen = true }
        text = try await drafts.draft(to: rental).text
    }

    private func send() async throws {
        defer { isOpen = true }
        try await drafts.send(MessageDraft(rental: rental, text: text))
        (text, message) = ("", "Sent")
    }

    /// Makes one change after the other, so that an earlier text never replaces a later one.
    private func change(_ change: @escaping @MainActor () async throws -> Void) {
        lastChange = Task { [lastChange] in
            await lastChange?.value
            do { try await change() } catch { message = (error as? NetworkError)?.detail ?? "\(error)" }
        }
    }
}
