package house_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// What bounds a table that no stranger can make larger.
const (
	bySetting = "the operator's settings"
	byTimes   = "the timetable"
	byRecord  = "one booking, run or station, whose records are bounded"
	byNothing = "it is not changed"
	byIssuer  = "the issuer's keys, of which a set has maxKeys"
)

// tableBounds says what bounds each table of those that live as long as a server: each
// field that can hold any number of things. A name that ends with an asterisk is all
// fields of a type. Whoever adds such a field says here how large it can become and, if
// strangers can make it larger, what one of them can have of it: nothing may grow with
// what they send, and none may take the room of the others (docs/decisions/0036).
var tableBounds = map[string]string{
	"authserver.Client.*":           bySetting,
	"authserver.Server.clients":     bySetting,
	"authserver.client.exact":       bySetting,
	"authserver.users.known":        bySetting,
	"authserver.signer.set":         bySetting,
	"authserver.grant.scopes":       "the scopes there are: read and write",
	"authserver.grants.key":         byNothing,
	"authserver.sessions.key":       byNothing,
	"authserver.shelf.items":        "mostKept; when it is full, the address with most loses the oldest, and there the browser or user with most",
	"authserver.shelf.order":        "shelf.items",
	"authserver.owner.keys":         "shelf.items",
	"authserver.ranking.owners":     "shelf.items, three for each",
	"authserver.ranking.bySize":     "ranking.owners",
	"fair.Cache.entries":            "a size for each caller and in all; a caller with too much loses its own",
	"fair.Cache.callers":            "Cache.entries",
	"fair.Pool.flows":               "callers with work in hand: Limits.Slots and Queue, and InHand of one",
	"fair.Pool.ready":               "Pool.flows",
	"fair.Pool.spare":               "mostSpare",
	"fair.flow.queue":               "Limits.InHand of a caller, Queue in all",
	"fair.piece.ended":              "one error",
	"fair.budgetShard.used":         "callers with something in use: at most one for each request, or connection, that is open",
	"fair.InstantShard.young":       "perShard; a caller has one instant, the older half is forgotten",
	"fair.InstantShard.old":         "perShard",
	"gateway.Client.secrets":        bySetting,
	"httpserver.KeySet.*":           byIssuer,
	"httpserver.publicKey.algs":     "the algorithms there are",
	"httpserver.oneLook.done":       "nothing is sent on it",
	"httpserver.Verifier.verifies":  "the algorithms there are",
	"httpserver.Server.exchanges":   "the garbage collector; an exchange with a large answer is not put back",
	"httpserver.Server.proxies":     bySetting,
	"httpserver.fixed.*":            byNothing,
	"httpserver.text.*":             byNothing,
	"httpserver.content.body":       "one document; the server's own have one of each",
	"httpserver.madeTicket.body":    "ticketCache",
	"httpserver.madeTicket.done":    "nothing is sent on it",
	"httpserver.ticketCache.making": "requests that are worked on: the slots for tickets",
	"httpserver.stationTexts.kept":  "maxStationTexts, and the stations of the timetable",
	"httpserver.stationText.text":   byRecord,
	"httpserver.zones.byName":       "time zones of the timetable",
	"ticket.Keys.keys":              bySetting,
	"ticket.bufferPool.pool":        "the garbage collector; there are as many as were used at once",
	"ticket.compressor.writers":     "the garbage collector; there are as many as were used at once",

	"agenda.Scheduler.Workers":      "the kinds of work there are",
	"agenda.Wakeup.C":               "one value",
	"agenda.Worker.wake":            "one value",
	"agenda.membership.seen":        "servers on the store",
	"agenda.membership.workers":     "the kinds of work there are",
	"agenda.retries.items":          "what is on the agenda and failed; what is not met in a pass is forgotten",
	"codec.Encoder.B":               byRecord,
	"keys.Ring.*":                   bySetting,
	"memstore.Store.tables":         "what the sandbox remembers of the payments of a store, which are bounded as these are",
	"memstore.table.pages":          "memstore.Store.tables",
	"store.Record.Value":            byRecord,
	"ledger.Terms.CardKey":          byNothing,
	"ledger.Terms.FingerprintKey":   byNothing,
	"payments.payLine.turn":         "one value",
	"payments.turns.lines":          "payments that are under way, of which a caller has 16; maxTurns for a card or user",
	"rail.Booking.*":                byRecord,
	"rail.City.Names":               bySetting,
	"rail.HoldLimits.Clients":       bySetting,
	"rail.Station.*":                byRecord,
	"rail.Ticket.Stations":          byRecord,
	"raptor.Days.*":                 byTimes,
	"raptor.Network.*":              byTimes,
	"raptor.dayCache.last":          "keepDays",
	"raptor.lists.*":                byTimes,
	"records.QueueFloors.At":        "maxQueueFloors; a user has as many as subscriptions",
	"schedule.Prices.Amounts":       byTimes,
	"search.mispriced.known":        "maxMispriced",
	"seats.Inventory.*":             byRecord,
	"seats.Stock.Runs":              "maxStocked; any of them make room, and are read again",
	"stations.Directory.*":          byTimes,
	"stations.Gazetteer.*":          bySetting,
	"stations.gazetteerCity.*":      bySetting,
	"stations.nameWord.forms":       byTimes,
	"store.Claims.taken":            "items in hand: the workers of Run",
	"timetable.Snapshot.*":          byTimes,
	"timetable.Source.loading":      "one value",
	"timetable.Train.*":             byTimes,
	"trains.Days.*":                 byTimes,
	"trains.Slots.*":                byTimes,
	"trains.slotBase.*":             byTimes,
	"tz.Zones.m":                    "time zones of the timetable",
	"webhooks.pingRations.hosts":    "maxPinged; a user has as many as pings posted in the time that a ration takes to be whole again",
	"webhooks.recorder.last":        "nothing is sent on it",
	"webhooks.recording.before":     "nothing is sent on it",
	"webhooks.recording.done":       "nothing is sent on it",
	"webhooks.recording.outcomes":   "recordAtOnce, and what one attempt adds",
	"webhooks.slowEndpoints.inHand": "maxSuspects; a user has as many as subscriptions",
}

// Nothing that a server keeps grows without a bound that is written down.
func TestEveryTableIsBounded(t *testing.T) {
	t.Parallel()
	found := tables(t)
	used := map[string]bool{}
	for _, field := range slices.Sorted(maps.Keys(found)) {
		whole := field[:strings.LastIndexByte(field, '.')] + ".*"
		switch {
		case tableBounds[field] != "":
			used[field] = true
		case tableBounds[whole] != "":
			used[whole] = true
		default:
			t.Errorf("%s holds any number of things: say in tableBounds what bounds it, and what one caller can have of it", field)
		}
	}
	for name := range tableBounds {
		if !used[name] {
			t.Errorf("tableBounds names %s, but no such table exists: remove the entry", name)
		}
	}
}
