// A page as it was written for a bridge with callbacks. It knows nothing of Runway: load.js has what it calls.
function tap(id, action) {
  document.getElementById(id).addEventListener('click', action)
}

function show(id, text, isRefused) {
  document.getElementById(id).textContent = text
  document.getElementById(id).classList.toggle('refused', Boolean(isRefused))
}

tap('list', function () {
  LoadAPI('orders.list', {}, {
    success: function (result) {
      show('listed', result.items.map(function (order) { return order.title }).join(', '))
    },
    fail: function (error) { show('listed', error.message, true) },
  })
})

tap('pick', function () {
  window.CTJSBridge.LoadMethod('addresses', 'pick', {}, {
    success: function (result) { show('picked', result.street + ', ' + result.city) },
    fail: function (error) { show('picked', error.message, true) },
  })
})

tap('upload', function () {
  var canvas = document.createElement('canvas')
  var picture = canvas.toDataURL('image/jpeg').split(',')[1]
  LoadMethod('orders', 'picture', { order: 8, picture: picture }, {
    success: function () { show('sent', document.getElementById('sent').textContent + ' Sent.') },
    fail: function (error) { show('sent', error.message, true) },
    progress: function (share) { show('sent', Math.round(share * 100) + ' %.') },
  })
})

tap('locate', function () {
  LoadMethod('device', 'location', {}, {
    success: function (result) { show('located', result.latitude + ', ' + result.longitude) },
    fail: function (error) { show('located', error.kind + ': ' + error.message, true) },
  })
})
