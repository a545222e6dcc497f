import Foundation
import HTTPTypes
import Testing

@testable import RunwaySignatures

/// Joins the lines that a backslash at their end continues (RFC 8792 §7.1).
func unwrapped(_ text: String) -> String {
    text.replacing(/\\\n */, with: "")
}

/// A message as an RFC prints it.
func message(_ text: String) throws -> MessageText {
    try MessageText(unwrapped(text).utf8)
}

/// A request as an RFC prints it.
func request(_ text: String, scheme: String = "https") throws -> HTTPRequest {
    try #require(try message(text).request(scheme: scheme))
}

/// The signature base as text.
func base(_ context: SignatureContext, _ components: [ComponentIdentifier]) throws -> String {
    let parameters = try SignatureParameters(components: CoveredComponents(components))
    return String(decoding: try context.signatureBase(for: parameters), as: UTF8.self)
}

/// The lines of the signature base without that of the parameters.
func lines(_ context: SignatureContext, _ components: ComponentIdentifier...) throws -> [String] {
    try base(context, components).split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
}
