package main

// An operator is one line of agency.txt. Its code begins the numbers of its
// trains. The operators are invented.
type operator struct{ code, name, lang string }

var operators = []operator{
	{"AE", "Αιγαίο Εξπρές", "el"},
	{"AQ", "Alpenquer", "de"},
	{"BK", "Балкания", "bg"},
	{"CR", "Carpați Rapid", "ro"},
	{"DN", "Danubia", "de"},
	{"GR", "Grenzland Regio", "de"},
	{"IV", "Ibérica Veloz", "es"},
	{"LA", "Ligne Atlantique", "fr"},
	{"LR", "Lusitânia Rápida", "pt"},
	{"ME", "Mitteleuropa Express", "de"},
	{"NF", "Nachtfalter", "de"},
	{"NX", "Nordbanan Express", "sv"},
	{"SX", "Strait Express", "en"},
	{"TR", "Tirreno Rapido", "it"},
	{"VE", "Vistula Ekspres", "pl"},
}

// A calendar is one line of calendar.txt, Monday first.
type calendar struct{ id, days string }

const (
	daily    = "daily"
	workdays = "workdays"
	weekend  = "weekend"
)

var calendars = []calendar{
	{daily, "1111111"},
	{workdays, "1111100"},
	{weekend, "0000011"},
}

// The first and the last day on which trains run.
const firstYear, lastYear = 2020, 2099

// holidays are like Sundays, whatever day of the week they are.
var holidays = []string{"0101", "1225"}

// An allowance has the values of bikes_allowed.
type allowance int

const (
	unknown allowance = iota
	yes
	no
)

// stock is what a train is made of, and what may come along.
type stock struct {
	coaches     string // number:seats, none where no place is reserved
	bikes, dogs allowance
	hooks       int // spaces for bicycles, if they are counted
}

var (
	// Day trains
	ice      = stock{"21:76 22:80 23:80 24:80 25:68 27:52 28:50", yes, yes, 8}
	icePlain = stock{"31:72 32:72 33:60 36:64 37:48 38:44", no, no, 0}
	ic       = stock{"5:64 6:64 7:84 8:84 9:48", yes, yes, 0}
	ec       = stock{"256:54 257:66 258:66 259:80 260:80 261:48", yes, yes, 6}
	ecEast   = stock{"266:54 267:66 268:66 269:80 270:80", yes, no, 8}
	railjet  = stock{"21:16 22:76 23:80 24:80 25:80 26:76", yes, yes, 5}
	tgv      = stock{"1:44 2:40 3:60 5:76 6:76 7:80 8:84", no, yes, 0}
	strait   = stock{"1:58 2:58 3:60 4:64 5:76 6:76 9:76 10:64 11:60", no, no, 0}
	red      = stock{"1:39 2:36 3:36 5:56 6:56 7:56 8:50", no, yes, 0}
	ave      = stock{"1:30 2:36 3:36 5:62 6:64 7:62 8:33", no, unknown, 0}
	freccia  = stock{"1:10 2:69 3:75 5:76 6:76 7:76 8:76", no, yes, 0}
	alfa     = stock{"1:38 2:50 4:62 5:62 6:58", unknown, yes, 0}
	tilting  = stock{"1:51 2:76 4:78 5:68 6:38", no, yes, 0}
	mark4    = stock{"B:74 C:76 D:76 E:68 L:42 M:46", yes, yes, 4}
	plain    = stock{"421:54 422:54 423:36", unknown, unknown, 0}
	panorama = stock{"1:36 2:36 3:30", yes, yes, 4}

	// Night trains: seats, couchettes and berths count alike.
	night     = stock{"21:60 22:54 23:54 24:40 25:36 26:30", yes, no, 4}
	nightPets = stock{"31:54 32:40 33:40 34:36", no, yes, 0}
	nightOld  = stock{"481:60 482:36 483:30", unknown, no, 0}

	// Without reservation
	regio = stock{"", yes, yes, 0}
	local = stock{"", unknown, unknown, 0}
)
