import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import RunwayFormats
import Synchronization

extension UploadResponder {
    /// Creates an upload from a request with all of its content or the first part.
    func create(
        _ request: Request, of owner: UploadOwner, _ fields: UploadFields, _ context: Base.Context
    ) async throws -> Response {
        let store = resource.store
        let length = try fields.length(from: 0)
        try checkSize(of: fields)
        let record = UploadRecord(
            method: request.method.rawValue, scheme: request.head.scheme, authority: request.head.authority,
            path: request.head.path,
            fields: storedFields.stored(of: request.headers, isWhole: fields.isComplete == true),
            owner: owner.name, source: source(request, context), length: length)
        let upload = try await store.onDisk { try store.create(record) }
        let turn = upload.takeTurn(over: context.channel, now: store.time)
        if let version = fields.version {
            var interim = HTTPResponse.resumptionSupported(version)
            interim.headerFields[.location] = resource.location(of: upload)
            interim.headerFields[.uploadLimit] = store.limits.field(version, age: .zero)
            context.channel.sendInterim(interim)
        }
        return try await receive(request, into: upload, from: 0, in: turn, isCreation: true, fields, context)
    }

    /// Responds to a request for an existing upload.
    func respond(
        to request: Request, for id: Substring, of owner: UploadOwner, _ fields: UploadFields, _ context: Base.Context
    ) async throws -> Response {
        let store = resource.store
        guard [.head, .patch, .delete].contains(request.method) else {
            return Response(status: .methodNotAllowed, headers: [.allow: "HEAD, PATCH, DELETE"])
        }
        let appends = request.method == .patch
        if appends { try check(request, fields) }
        let id = String(id)
        guard let upload = try await store.onDisk({ try store.find(id[...], of: owner) }) else {
            throw UploadProblem.unknown
        }
        if request.method == .delete {
            try await store.onDisk { store.remove(upload) }
            return Response(status: .noContent)
        }
        await upload.settle(before: context.channel)
        // The following work runs on a thread that may block, since the previous request may be writing its last part.
        let channel = appends ? context.channel : nil
        let turn = try await store.onDisk { upload.takeTurn(over: channel, now: store.time) }
        guard appends else { return resource.state(of: upload, fields) }
        let status = upload.status(now: store.time)
        do {
            if status.stage != .receiving {
                throw fields.contentLength ?? 0 > 0 ? UploadProblem.inconsistentLength : .completed
            }
            let offset = fields.offset ?? 0
            if offset != status.offset {
                throw UploadProblem.mismatchingOffset(expected: status.offset, provided: offset)
            }
            let length = try fields.length(from: offset)
            guard length ?? 0 <= store.limits.maximumByteCount else { throw UploadProblem.tooLarge }
            try upload.setLength(length)
            try await store.onDisk { try upload.save() }
        } catch {
            upload.end(turn, now: store.time)
            throw error
        }
        return try await receive(
            request, into: upload, from: status.offset, in: turn, isCreation: false, fields, context)
    }

    private func check(_ request: Request, _ fields: UploadFields) throws(UploadProblem) {
        let type = (request.headers[.contentType] ?? "").prefix { $0 != ";" }
        // Clients of drafts before 05 do not know the media type.
        guard type.lowercased() == UploadFields.partType || fields.version.map({ $0 < .v6 }) ?? false else {
            throw .mediaType
        }
        guard fields.offset != nil else { throw .malformed("the request has no valid Upload-Offset") }
        guard fields.isComplete != nil || fields.version == .v3 else {
            throw .malformed("the request has no valid Upload-Complete")
        }
        try checkSize(of: fields)
    }

    private func checkSize(of fields: UploadFields) throws(UploadProblem) {
        guard fields.contentLength ?? 0 <= resource.store.limits.maximumAppendByteCount ?? .max else { throw .tooLarge }
    }

    private func receive(
        _ request: Request, into upload: StoredUpload, from offset: Int, in turn: StoredUpload.Turn, isCreation: Bool,
        _ fields: UploadFields, _ context: Base.Context
    ) async throws -> Response {
        let store = resource.store
        // A client that sends `Expect` waits for status 100; 104 does not replace it
        // (draft-ietf-httpbis-resumable-upload, "Status Code 104").
        if request.headers[.expect]?.lowercased() == "100-continue" {
            context.channel.sendInterim(HTTPResponse(status: .continue))
        }
        let intake = UploadIntake(store: store, upload: upload, turn: turn)
        do {
            try await intake.receive(request.body, from: offset, fields, context.channel)
        } catch {
            upload.end(turn, now: store.time)
            throw error
        }
        // In draft 01, a client may omit the field that states whether its part is the last one.
        guard fields.isComplete ?? true else {
            upload.end(turn, now: store.time)
            return resource.appended(to: upload, isCreation: isCreation, fields)
        }
        let byteCount = upload.status(now: store.time).offset
        if let length = upload.record.length, length != byteCount {
            upload.end(turn, now: store.time)
            throw UploadProblem.inconsistentLength
        }
        return try await handle(upload, byteCount: byteCount, in: turn, request, fields, context)
    }

    /// Passes the complete upload to the app.
    private func handle(
        _ upload: StoredUpload, byteCount: Int, in turn: StoredUpload.Turn, _ request: Request, _ fields: UploadFields,
        _ context: Base.Context
    ) async throws -> Response {
        let store = resource.store
        let file: UploadFile?
        do {
            file = try await store.onDisk { () -> UploadFile? in
                let file = try UploadFile(upload.contentPath, O_RDONLY)
                return try upload.enter(.handling, in: turn, now: store.time) ? file : nil
            }
        } catch {
            upload.end(turn, now: store.time)
            throw error
        }
        guard let file else { throw UploadProblem.unknown }
        // The turn ends first, so that a later request does not close this connection while the app responds. The later
        // request learns instead that the upload is complete.
        upload.end(turn, now: store.time)
        let content = UploadContent(file: file, byteCount: byteCount, store: store)
        let whole = Request(
            head: storedFields.head(of: upload.record, byteCount: byteCount, completedBy: request.head),
            body: RequestBody(asyncSequence: content))
        let result: Result<Response, any Error>
        do { result = .success(try await base.respond(to: whole, context: context)) } catch { result = .failure(error) }
        let response: Response
        switch result {
        case .success(let success): response = success
        case .failure(let error as any HTTPResponseError): response = try error.response(from: whole, context: context)
        case .failure(let error):
            context.logger.error("the handler of an upload failed", metadata: ["error.type": "\(type(of: error))"])
            response = Response(status: .internalServerError)
        }
        // The client's token may expire during a large upload; the client then completes the upload with another token.
        if response.status == .unauthorized {
            try await store.onDisk { store.reopen(upload) }
            return resource.unfinished(response, byteCount: byteCount, fields)
        }
        try await store.onDisk { store.complete(upload) }
        return resource.completed(response, byteCount: byteCount, fields)
    }
}

struct UploadIntake: Sendable {
    /// The request ended before all of its content arrived, or another request took its turn.
    struct Interrupted: Error {}

    let store: UploadStore
    let upload: StoredUpload
    let turn: StoredUpload.Turn

    func receive(_ body: RequestBody, from start: Int, _ fields: UploadFields, _ channel: any Channel) async throws {
        let (store, upload) = (store, upload)
        let file = try await store.onDisk { try UploadFile(upload.contentPath, O_WRONLY) }
        let progress = Progress(reported: start)
        let reception = BodyReception(within: UploadLimits.content, by: store.elapsedTime)
        try await reception.receive(body) { part in
            guard progress.add(part.readableBytes) <= store.limits.maximumAppendByteCount ?? .max else {
                throw UploadProblem.tooLarge
            }
            let offset = try await append(part, to: file)
            if let version = fields.version, version >= .v5, progress.reports(offset) {
                var interim = HTTPResponse.resumptionSupported(version)
                interim.headerFields[.uploadOffset] = String(offset)
                channel.sendInterim(interim)
            }
        }
        // A closed connection may look like the end of a body.
        guard let contentLength = fields.contentLength else {
            if !channel.isActive { throw Interrupted() }
            return
        }
        if progress.receivedByteCount < contentLength { throw Interrupted() }
    }

    /// Counts the received bytes of one request, and stores the offset last reported to the client.
    private final class Progress: Sendable {
        /// The number of bytes after which the offset is reported to the client: 1 MiB.
        private static let reportByteCount = 1 << 20

        /// Guards the counts.
        private let counts: Mutex<(received: Int, reported: Int)>

        init(reported: Int) { counts = Mutex((0, reported)) }

        var receivedByteCount: Int { counts.withLock { $0.received } }

        /// Adds to the number of received bytes, and returns the new number.
        func add(_ byteCount: Int) -> Int {
            counts.withLock { counts in
                counts.received += byteCount
                return counts.received
            }
        }

        /// Returns whether the offset is due to be reported to the client.
        func reports(_ offset: Int) -> Bool {
            counts.withLock { counts in
                guard offset - counts.reported >= Self.reportByteCount else { return false }
                counts.reported = offset
                return true
            }
        }
    }

    /// Removes the upload, as the draft requires for an upload that has become invalid.
    private func discard() async throws {
        let (store, upload) = (store, upload)
        // The turn ends first, since removing the upload closes the connection of an active turn, but the response
        // needs the connection.
        upload.end(turn, now: store.time)
        try await store.onDisk { store.remove(upload) }
    }

    private func append(_ part: ByteBuffer, to file: UploadFile) async throws -> Int {
        let (store, upload, turn) = (store, upload, turn)
        do {
            return try await store.onDisk {
                let missing = upload.missingReservation(for: part.readableBytes)
                if missing > 0 {
                    guard store.reserve(missing, for: upload) else { throw StoredUpload.Failure.noSpace }
                    guard upload.grant(missing) else {
                        store.release(missing, of: upload)
                        throw StoredUpload.Failure.superseded
                    }
                }
                return try upload.append(part, to: file, in: turn, upTo: store.limits.maximumByteCount)
            }
        } catch let failure as StoredUpload.Failure {
            switch failure {
            case .superseded: throw Interrupted()
            case .surplus:
                try await discard()
                throw UploadProblem.inconsistentLength
            case .tooLarge:
                try await discard()
                throw UploadProblem.tooLarge
            case .noSpace: throw UploadProblem.noSpace
            case .file(let failure): throw failure
            }
        }
    }
}
