import Foundation
import HTTPTypes
import Runway

// The example of resumable uploads, line by line. It is compiled and not run.

private enum ResumableUploads {
    struct FilmUpload: Endpoint {
        static let service = Listings.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
        static let uploadResumption = UploadResumption.on
        @Unencoded var film: URL
        @Unencoded var id: Int
        var path: EndpointPath { "rental/\(id)/film" }
        var content: RequestBody { get throws { try .file(film) } }
    }
}
