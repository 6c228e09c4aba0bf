package traintravel_test

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

	"traintravel.terms.cardKey":        byNothing,
	"traintravel.terms.fingerprintKey": byNothing,
	"traintravel.wakeup.c":             "one value",
	"traintravel.Booking.*":            byRecord,
	"traintravel.Station.*":            byRecord,
	"traintravel.Ticket.Stations":      byRecord,
	"traintravel.City.Names":           bySetting,
	"traintravel.HoldLimits.Clients":   bySetting,
	"traintravel.Prices.Amounts":       byTimes,
	"traintravel.days.*":               byTimes,
	"traintravel.directory.*":          byTimes,
	"traintravel.nameWord.forms":       byTimes,
	"traintravel.snapshot.*":           byTimes,
	"traintravel.train.*":              byTimes,
	"traintravel.gazetteer.*":          bySetting,
	"traintravel.gazetteerCity.*":      bySetting,
	"traintravel.zones.m":              "time zones of the timetable",
	"traintravel.source.loading":       "one value",
	"traintravel.inventory.*":          byRecord,
	"traintravel.stock.runs":           "maxStocked; any of them make room, and are read again",
	"traintravel.mispriced.known":      "maxMispriced",
	"traintravel.queueFloors.at":       "maxQueueFloors; a user has as many as subscriptions",
	"traintravel.pingRations.hosts":    "maxPinged; a user has as many as pings posted in the time that a ration takes to be whole again",
	"traintravel.slowEndpoints.inHand": "maxSuspects; a user has as many as subscriptions",
	"traintravel.recorder.last":        "nothing is sent on it",
	"traintravel.recording.outcomes":   "recordAtOnce, and what one attempt adds",
	"traintravel.recording.before":     "nothing is sent on it",
	"traintravel.recording.done":       "nothing is sent on it",
	"traintravel.turns.lines":          "payments that are under way, of which a caller has 16; maxTurns for a card or user",
	"traintravel.payLine.turn":         "one value",
	"traintravel.worker.wake":          "one value",
	"traintravel.Claims.taken":         "items in hand: the workers of Run",
	"traintravel.retries.items":        "what is on the agenda and failed; what is not met in a pass is forgotten",
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
