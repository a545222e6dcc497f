// The page of the shop. It has no server of its own to ask: orders, pictures, news and addresses come from the app.
const element = id => document.getElementById(id)

/** Shows a sentence, and marks it if the app has refused or failed. */
function say(id, text, isRefused = false) {
  element(id).textContent = text
  element(id).classList.toggle('refused', isRefused)
}

/** Returns a sentence for the user. `kind` names the reasons of the bridge and of the app's commands. */
function sentence(error) {
  switch (error.kind) {
    case 'notGranted': return 'The app does not let this page do that.'
    case 'gestureNeeded': return 'Tap the button again.'
    case 'closed': return 'No address was chosen.'
    default: return `That did not work (${error.kind ?? error.name}).`
  }
}

async function showOrders() {
  const { items } = await runway.call('orders.list')
  const price = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' })
  const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeZone: 'UTC' })
  element('orders').replaceChildren(...items.map(order => {
    const row = element('order').content.cloneNode(true)
    row.querySelector('.title').textContent = order.title
    row.querySelector('.day').textContent = day.format(new Date(order.day))
    row.querySelector('.price').textContent = price.format(order.cents / 100)
    return row
  }))
  say('status', `${items.length} orders`)
  return items[0].id
}

/** Follows what happens to the orders, until the page is left. */
async function showNews() {
  for await (const { order, text } of runway.stream('orders.changes')) {
    element('changes').querySelector('.none')?.remove()
    const row = document.createElement('li')
    row.textContent = `Order ${order}: ${text}`
    element('changes').prepend(row)
  }
}

/** Makes a picture small enough for one call: at most 1,024 pixels wide, as JPEG. */
async function shrink(file) {
  const bitmap = await createImageBitmap(file)
  const scale = Math.min(1, 1024 / Math.max(bitmap.width, bitmap.height))
  const canvas = document.createElement('canvas')
  canvas.width = Math.round(bitmap.width * scale)
  canvas.height = Math.round(bitmap.height * scale)
  canvas.getContext('2d').drawImage(bitmap, 0, 0, canvas.width, canvas.height)
  return new Promise(done => canvas.toBlob(done, 'image/jpeg', 0.8))
}

function base64(blob) {
  return new Promise((done, failed) => {
    const reader = new FileReader()
    reader.onload = () => done(reader.result.slice(reader.result.indexOf(',') + 1))
    reader.onerror = () => failed(reader.error)
    reader.readAsDataURL(blob)
  })
}

let firstOrder, picture

// Everything that takes time happens here: the call that sends has to follow its tap within a second.
element('file').addEventListener('change', async ({ target }) => {
  const blob = await shrink(target.files[0])
  picture = await base64(blob)
  element('preview').src = URL.createObjectURL(blob)
  element('preview').hidden = false
  element('send').disabled = firstOrder === undefined
})

element('send').addEventListener('click', async () => {
  const bar = element('share')
  bar.value = 0
  bar.hidden = false
  element('send').disabled = true
  try {
    await runway.call('orders.picture', { order: firstOrder, picture }, {
      onProgress: share => { bar.value = share },
      signal: AbortSignal.timeout(60_000),
    })
    say('picture-note', 'The picture is sent.')
  } catch (error) {
    say('picture-note', sentence(error), true)
    element('send').disabled = false
  }
})

element('pick').addEventListener('click', async () => {
  try {
    const { street, city } = await runway.call('addresses.pick')
    say('address', `${street}, ${city}`)
    element('pick').textContent = 'Choose another address'
  } catch (error) {
    say('address', sentence(error), true)
  }
})

element('locate').addEventListener('click', async () => {
  try {
    const { latitude, longitude } = await runway.call('device.location')
    say('location', `You are at ${latitude}, ${longitude}.`)
  } catch (error) {
    say('location', sentence(error), true)
  }
})

async function begin() {
  try {
    firstOrder = await showOrders()
    await showNews()
  } catch (error) {
    say('status', sentence(error), true)
  }
}

// Other browsers have no bridge.
if (globalThis.runway) begin()
else say('status', 'Open this page in the app.', true)
