// Lets a page that calls the app by `LoadAPI` and `LoadMethod`, with callbacks, run on the bridge of Runway.
//
// An API is a command of its name; the action of a target is the command `target.action`. `success` and `fail` are
// called once, and `progress` before them.
{
  const load = (name, data, { success, fail, progress } = {}) => {
    runway.call(name, data, { onProgress: progress }).then(
      output => success?.(output),
      error => fail?.({ kind: error.kind, message: error.message }))
  }

  globalThis.LoadAPI = (name, data, callbacks) => load(name, data, callbacks)
  globalThis.LoadMethod = (target, action, data, callbacks) => load(`${target}.${action}`, data, callbacks)
  globalThis.CTJSBridge = { LoadAPI, LoadMethod }
}
