package httpserver

import (
	"bytes"
	"sync"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A stationDoc is a station as clients see it.
type stationDoc struct {
	traintravel.Station
	texts *stationTexts
}

func (d *stationDoc) encode(e *encoder) {
	if text := d.texts.of(&d.Station, e.form); text != nil {
		e.again("station", text)
		return
	}
	e.item("station")
	from := len(e.b)
	e.id("id", d.ID)
	e.text("name", d.Name)
	e.text("address", d.Address)
	e.text("country_code", d.Country)
	e.text("timezone", d.Zone)
	e.degrees("latitude", d.Latitude)
	e.degrees("longitude", d.Longitude)
	e.close("station")
	d.texts.keep(&d.Station, e.form, e.b[from:])
}

// stationTexts keeps how stations were written: lists of them are long, and
// asked for often.
type stationTexts struct {
	mu   sync.RWMutex
	kept [2]map[uuid.UUID]stationText // by form
}

// stationText is a station and how it is written after what item writes.
type stationText struct {
	station shownStation
	text    []byte
}

// shownStation is what clients see of a station. It can be compared.
type shownStation struct {
	id                           uuid.UUID
	name, address, country, zone string
	latitude, longitude          float64
}

func shown(st *traintravel.Station) shownStation {
	return shownStation{st.ID, st.Name, st.Address, st.Country, st.Zone, st.Latitude, st.Longitude}
}

// maxStationTexts bounds what is kept of each form, to some 40 MB.
const maxStationTexts = 1 << 16

// of returns the text of a station as it is now, or nil.
func (t *stationTexts) of(st *traintravel.Station, f form) []byte {
	t.mu.RLock()
	kept, ok := t.kept[f][st.ID]
	t.mu.RUnlock()
	if !ok || kept.station != shown(st) {
		return nil
	}
	return kept.text
}

func (t *stationTexts) keep(st *traintravel.Station, f form, text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept[f] == nil || len(t.kept[f]) == maxStationTexts {
		t.kept[f] = map[uuid.UUID]stationText{}
	}
	t.kept[f][st.ID] = stationText{shown(st), bytes.Clone(text)}
}
