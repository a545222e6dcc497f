// Repairs HomeReformer of the demo's tests, whose price of a square metre is 10,000 times too low. An app without this
// point ignores it.
patch("HomeReformer", 1, (endpoint, body) => {
    const home = body.data
    return {
        id: home.esf_id, title: home.esf_title, price: `${home.esf_total_price.toFixed(1)} 万`,
        unitPrice: `${home.esf_unit_price} 元/㎡`,
        place: `${home.esf_area.toFixed(1)} ㎡ · ${home.esf_district}`, address: home.esf_address,
    }
})
