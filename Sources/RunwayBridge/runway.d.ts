/** The bridge between a page and the app that shows it. It is absent in other browsers: `if (globalThis.runway) …`. */
declare const runway: Runway

interface Runway {
  /**
   * Calls a command of the app.
   *
   * Rejects with a {@link BridgeError}, or with the reason of the signal. `AbortSignal.timeout(ms)` bounds the call.
   *
   * @param name The name of the command, such as `orders.list`.
   * @param input A value that JSON can hold, of at most 1 MiB. It is `{}` by default.
   * @returns The command's output; an `ArrayBuffer` if the command returns bytes.
   */
  call<Output = unknown>(name: string, input?: unknown, options?: CallOptions): Promise<Output>

  /**
   * Follows the values that a command of the app sends. Leaving the loop cancels the call. While the page does not ask
   * for the next value, the app sends only a few ahead.
   */
  stream<Value = unknown>(name: string, input?: unknown, options?: StreamOptions): AsyncGenerator<Value, void, void>

  readonly BridgeError: { new (kind: string, message: string): BridgeError }
}

interface StreamOptions {
  /** Cancels the call. */
  signal?: AbortSignal
}

interface CallOptions extends StreamOptions {
  /** Receives the values that the command sends before its output. */
  onProgress?: (progress: any) => void
}

interface BridgeError extends Error {
  /**
   * The reason. The bridge refuses a call with `notGranted`, `foreignFrame`, `opaqueOrigin`, `gestureNeeded`,
   * `notEmbedded`, `malformed`, `tooLarge`, `tooDeep`, `busy` or `tooFast`. A call fails with `invalidInput`,
   * `deadlineExceeded`, `ended` (the page was left, or the user signed out), `notPermitted`, `unavailable` or `closed`
   * (functions of the device), `failed`, or a kind of the command's own.
   */
  readonly kind: string
}
