// `ChatMessage`, `ChatMark`, `ChatRange` and `ChatPage` are part of this target's interface: its users need not import
// the target of formats.
@_exported public import RunwayFormats
