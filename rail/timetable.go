package rail

// A Coach is a coach with numbered seats, from 1 to Seats.
type Coach struct {
	Number string
	Seats  int
}

// An Allowance says whether something may be taken on board. The zero value is
// Unknown, which does not permit it.
type Allowance uint8

// The allowances, as in GTFS (bikes_allowed).
const (
	Unknown Allowance = iota
	Allowed
	NotAllowed
)
