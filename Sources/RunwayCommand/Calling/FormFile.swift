import HTTPTypes
import Runway

import struct Foundation.URL

/// A file that is sent as a part of a form, by the text of an item: a path, and perhaps `;type=` and a media type.
struct FormFile: Equatable {
    let path: String
    let contentType: String

    /// Reads the text after the sign of an item.
    ///
    /// - Throws: ``CommandFailure`` if there is no path, or the media type is malformed.
    init(_ text: String) throws(CommandFailure) {
        let mark = text.ranges(of: ";type=").last
        path = String(mark.map { text[..<$0.lowerBound] } ?? text[...])
        let named = mark.map { String(text[$0.upperBound...]) }
        guard !path.isEmpty else { throw CommandFailure("The item \"…@\(text)\" names no file.") }
        if let named, MediaType(named) == nil || !HTTPField.isValidValue(named) {
            throw CommandFailure("The media type of the file \"\(path)\" is malformed; such as: ;type=image/png.")
        }
        contentType = named ?? BodyFile.contentType(ofPath: path)
    }

    /// The part of a form.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be read.
    func part(name: String) throws(CommandFailure) -> FormPart {
        let file = try BodyFile(path: path)
        return FormPart(
            name: name, fileName: URL(fileURLWithPath: path).lastPathComponent, contentType: contentType,
            body: file.requestBody)
    }
}
