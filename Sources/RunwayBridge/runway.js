// Both halves of the bridge. The app evaluates this file in every frame, before any script of the page, in two worlds: in
// a world of its own, which has the function `runwayNative` (the relay), and in the world of the page, which receives the
// object `runway` (see runway.d.ts). WebKit takes the worlds in any order. The two share one MessagePort, which no script
// of the page can reach. They dispatch events at it: a message to it would wait for a turn of the event loop.
(() => {
  'use strict'
  const native = globalThis.runwayNative ?? globalThis.webkit?.messageHandlers?.runwayNative
  if (native) relay(typeof native === 'function' ? native : text => native.postMessage(text))
  else page()

  // The relay trusts nothing that arrives through the port. It bounds what a page can send to the app, and adds what
  // the app has to know: the document, its generation, and the newest gesture.
  function relay(post) {
    const mostCalls = 256, longestInput = 1 << 20, longestName = 128, gestureLifetime = 1000
    const document = Array.from(crypto.getRandomValues(new Uint32Array(4)), number => number.toString(36)).join('-')
    const calls = new Map() // by id: how many parts wait for their acknowledgement, and whether the page aborted
    const refusals = {}
    let deliver, generation = 1, gesture = 0, gestureTime = -Infinity

    const send = (type, fields, text = '') =>
      post(JSON.stringify({ document, generation, type, ...fields }) + '\n' + text)

    // The first ten refusals for one reason are sent one by one, the others as a total each second.
    const refuse = (id, name, kind, message) => {
      deliver({ type: 'failed', id, kind }, message)
      const refused = refusals[kind] ??= { sent: 0, more: 0 }
      if (refused.sent < 10) {
        refused.sent += 1
        send('refused', { kind, name, count: 1 })
      } else if (refused.more++ === 0) {
        setTimeout(() => {
          send('refused', { kind, name: '', count: refused.more })
          refused.more = 0
        }, 1000)
      }
    }

    const receive = ({ data }) => {
      const end = data.indexOf('\n')
      const { type, id, name } = JSON.parse(data.slice(0, end))
      const text = data.slice(end + 1)
      if (!Number.isSafeInteger(id)) return
      if (type === 'call') {
        const known = typeof name === 'string' ? name.slice(0, longestName) : ''
        if (known !== name || calls.has(id)) {
          return refuse(id, known, 'malformed', 'The call is malformed.')
        }
        if (text.length > longestInput) return refuse(id, name, 'tooLarge', 'The input of the call is too large.')
        if (calls.size >= mostCalls) return refuse(id, name, 'busy', 'Too many calls are in flight.')
        calls.set(id, { parts: 0, isAborted: false })
        const age = Math.ceil(performance.now() - gestureTime)
        send('call', age <= gestureLifetime ? { id, name, gesture, age } : { id, name }, text)
        return
      }
      const call = calls.get(id)
      if (type === 'abort' && call && !call.isAborted) {
        call.isAborted = true // the call counts until the app has confirmed its end
        call.taken?.(false)
        send('abort', { id })
      } else if (type === 'taken') {
        call?.taken?.(true)
      } else if (type === 'acknowledge' && call?.parts > 0) {
        call.parts -= 1
        send('acknowledge', { id })
      }
    }

    addEventListener('runway', event => {
      event.stopImmediatePropagation()
      event.preventDefault()
      const port = event.ports[0]
      port.addEventListener('runwayCall', receive)
      deliver = (header, text = '') =>
        port.dispatchEvent(new MessageEvent('runwayReply', { data: JSON.stringify(header) + '\n' + text }))
      send('opened', {})
    }, { once: true, capture: true })
    dispatchEvent(new Event('runwayRelay'))

    // The app calls this function with constant code, and passes the reply as values. For a chunk of bytes it returns a
    // promise of whether the page wants more of them, which it has as soon as the page has taken this one.
    globalThis.runwayReply = (ofDocument, ofGeneration, type, id, kind, text) => {
      const call = calls.get(id)
      if (ofDocument !== document || ofGeneration !== generation || !call) return false
      if (type === 'chunk' && call.isAborted) return false
      if (type === 'part') call.parts += 1
      else if (type !== 'chunk') calls.delete(id)
      const taken = type === 'chunk' && new Promise(resolve => { call.taken = resolve })
      deliver({ type, id, kind }, text)
      return taken
    }

    addEventListener('pagehide', event => event.isTrusted && send('hidden', {}), true)
    addEventListener('pageshow', event => {
      if (!event.isTrusted || !event.persisted) return
      generation += 1
      gestureTime = -Infinity
      for (const call of calls.values()) call.taken?.(false)
      calls.clear()
      send('shown', {})
      deliver({ type: 'shown' })
    }, true)

    // A key press or a pointer that is lifted in the main frame. Scripts can't make a trusted event.
    if (window === top) {
      const note = event => {
        if (!event.isTrusted || event.repeat) return
        gesture += 1
        gestureTime = performance.now()
        if (deliver) send('gesture', {})
      }
      addEventListener('pointerup', note, true)
      addEventListener('keydown', note, true)
    }
  }

  // Uses nothing that a script of the page could replace later.
  function page() {
    const { parse, stringify } = JSON
    const { defineProperty, freeze, create, getOwnPropertyDescriptor } = Object
    const NativePromise = Promise
    const load = fetch.bind(globalThis)
    const decode = atob.bind(globalThis)
    const Bytes = Uint8Array
    const uncurried = method => Function.prototype.call.bind(method)
    const codeAt = uncurried(String.prototype.charCodeAt)
    const setBytes = uncurried(Bytes.prototype.set)
    const indexOf = uncurried(String.prototype.indexOf)
    const slice = uncurried(String.prototype.slice)
    const Message = MessageEvent
    const port = new MessageChannel().port1
    const dispatch = port.dispatchEvent.bind(port)
    // Objects without a prototype: a script of the page could define `toJSON`, or members of an event, for all others.
    const post = (header, text = '') => {
      const data = stringify({ __proto__: null, ...header }) + '\n' + text
      dispatch(new Message('runwayCall', { __proto__: null, data }))
    }
    const calls = create(null)
    let lastID = 0

    class BridgeError extends Error {
      constructor(kind, message) {
        super(message)
        defineProperty(this, 'name', { value: 'BridgeError' })
        defineProperty(this, 'kind', { value: kind, enumerable: true })
      }
    }

    // `parts` receives each part, and calls the function that it is passed when it is ready for another one.
    const start = (name, input, signal, parts) => {
      const id = ++lastID
      const promise = new NativePromise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const abort = () => {
          if (!calls[id]) return
          delete calls[id]
          post({ type: 'abort', id })
          reject(signal.reason)
        }
        const end = settle => value => {
          signal?.removeEventListener('abort', abort)
          settle(value)
        }
        const text = stringify(input === undefined ? {} : input)
        calls[id] = { resolve: end(resolve), reject: end(reject), parts, chunks: [] }
        signal?.addEventListener('abort', abort)
        post({ type: 'call', id, name }, text)
      })
      return { id, promise }
    }

    const bytes = async address => {
      const response = await load(address, { cache: 'no-store', credentials: 'omit' })
      if (!response.ok) throw new BridgeError('ended', 'The bytes of the call are gone.')
      return response.arrayBuffer()
    }

    const bytesOfChunk = text => {
      const characters = decode(text)
      const bytes = new Bytes(characters.length)
      for (let i = 0; i < bytes.length; i++) bytes[i] = codeAt(characters, i)
      return bytes
    }

    const joined = chunks => {
      let length = 0
      for (let i = 0; i < chunks.length; i++) length += chunks[i].length
      const bytes = new Bytes(length)
      for (let i = 0, start = 0; i < chunks.length; start += chunks[i++].length) setBytes(bytes, chunks[i], start)
      return bytes.buffer
    }

    const dataOf = uncurried(getOwnPropertyDescriptor(MessageEvent.prototype, 'data').get)
    port.addEventListener('runwayReply', event => {
      const data = dataOf(event)
      const end = indexOf(data, '\n')
      const { type, id, kind } = parse(slice(data, 0, end))
      const text = slice(data, end + 1)
      if (type === 'shown') {
        for (const id in calls) {
          calls[id].reject(new BridgeError('ended', 'The page was left while the call was in flight.'))
          delete calls[id]
        }
        return
      }
      const call = calls[id]
      if (!call) return
      if (type === 'part') return call.parts(parse(text), () => post({ type: 'acknowledge', id }))
      if (type === 'chunk') {
        call.chunks[call.chunks.length] = bytesOfChunk(text)
        return post({ type: 'taken', id })
      }
      delete calls[id]
      if (type === 'done') call.resolve(parse(text))
      else if (type === 'bytes') call.resolve(text ? bytes(text) : joined(call.chunks))
      else call.reject(new BridgeError(kind, text))
    })

    const call = (name, input, { signal, onProgress } = {}) =>
      start(name, input, signal, (part, acknowledge) => {
        acknowledge()
        onProgress?.(part)
      }).promise

    // The app sends a few parts ahead; it waits until the page has taken them.
    async function* stream(name, input, { signal } = {}) {
      const parts = []
      let wake, failure, isDone = false
      const { id, promise } = start(name, input, signal, (part, acknowledge) => {
        parts[parts.length] = { part, acknowledge }
        wake?.()
      })
      promise.then(() => { isDone = true; wake?.() }, error => { isDone = true; failure = error; wake?.() })
      try {
        for (let next = 0; ; ) {
          if (next < parts.length) {
            const { part, acknowledge } = parts[next++]
            if (next === parts.length) next = parts.length = 0
            acknowledge()
            yield part
          } else if (isDone) {
            if (failure) throw failure
            return
          } else {
            await new NativePromise(resolve => { wake = resolve })
          }
        }
      } finally {
        if (calls[id]) {
          calls[id].resolve()
          delete calls[id]
          post({ type: 'abort', id })
        }
      }
    }

    // The half that comes second begins. No script of the page has run when the relay takes the port.
    const offer = () => dispatchEvent(new MessageEvent('runway', { ports: [port], cancelable: true }))
    if (offer()) addEventListener('runwayRelay', offer, { once: true, capture: true })
    defineProperty(globalThis, 'runway', { value: freeze({ call, stream, BridgeError }) })
  }
})()
