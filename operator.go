package traintravel

import (
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
)

// What an operator asks and does. These methods take no [Caller]: what they show and change
// is anybody's, so a program lets nobody but the operator's staff call them.

// Runs lists the trains of a number on a date, as the timetable in force has
// them: letter case and blanks do not matter. A number may be several trains'.
// It returns an [*InvalidError] for an empty number, and [ErrNoTimetable].
func (s *Service) Runs(ctx context.Context, number string, date Date) (_ []Run, err error) {
	ctx, end := s.begin(ctx, "Runs")
	defer end(&err)
	return s.desk.Runs(ctx, number, date)
}

// Manifest says who travels on a run of the timetable in force, as of one
// instant. On a train with numbered places it reads that run alone; on one
// without, it looks through all bookings. ErrNotFound: no such train runs then.
func (s *Service) Manifest(ctx context.Context, id RunID) (_ Manifest, err error) {
	ctx, end := s.begin(ctx, "Manifest")
	defer end(&err)
	return s.desk.Manifest(ctx, id)
}

// Block takes places of a run out of sale between two of its calls, all of them
// or none: for staff, for a coach that is missing, for a broken seat. A place
// that somebody holds, has paid or has blocked there is [ErrPlaceTaken], which
// the error wraps to say which. A new timetable keeps blocks as it keeps bookings.
//
// ErrNotFound: no such train runs then. [ErrArrived]: it has run. An [*InvalidError] names the place or
// call that the run has not.
func (s *Service) Block(ctx context.Context, run RunID, blocks ...Block) (err error) {
	ctx, end := s.begin(ctx, "Block")
	defer end(&err)
	return s.desk.Block(ctx, run, blocks...)
}

// Unblock puts places that [Service.Block] took out of sale back into it, all of
// them or none. Blocks are those of [Service.Manifest]; one that is not there is
// ErrNotFound, which the error wraps to say which. [ErrArrived]: the train has run.
func (s *Service) Unblock(ctx context.Context, run RunID, blocks ...Block) (err error) {
	ctx, end := s.begin(ctx, "Unblock")
	defer end(&err)
	return s.desk.Unblock(ctx, run, blocks...)
}

// CancelRun takes a run out of sale and cancels its bookings: holds end, and
// confirmed ones are refunded in full, whatever Options.Cancel says, and whether
// the train has departed or not. A booking of several trains is cancelled whole.
// For each it queues [BookingCancelled].
//
// From the first step on nobody can book the run any more. If an error, or the end
// of ctx, breaks it off, call it again: it goes on where it was.
//
// What cannot be read of other runs and bookings is left out, and reported.
//
// ErrNotFound: no such train runs then, and nobody has booked it. [ErrArrived]: by
// the timetable it has run already, and opts do not say that it may.
func (s *Service) CancelRun(ctx context.Context, run RunID, opts CancelRunOptions) (_ RunCancellation, err error) {
	ctx, end := s.begin(ctx, "CancelRun")
	defer end(&err)
	return s.desk.CancelRun(ctx, run, opts)
}

// RestoreRun puts a cancelled run back into sale. Its bookings stay cancelled.
// ErrNotFound: no such run is cancelled.
func (s *Service) RestoreRun(ctx context.Context, run RunID) (err error) {
	ctx, end := s.begin(ctx, "RestoreRun")
	defer end(&err)
	return s.desk.RestoreRun(ctx, run)
}

// BookingHistory returns anybody's booking, whatever its status, and what was paid
// for it. ErrNotFound: there is none.
func (s *Service) BookingHistory(ctx context.Context, id uuid.UUID) (_ BookingHistory, err error) {
	ctx, end := s.begin(ctx, "BookingHistory")
	defer end(&err)
	return s.desk.History(ctx, id)
}

// FindBookings is [Service.LookUpBookings] without the number of bookings that could
// not be read.
func (s *Service) FindBookings(ctx context.Context, text string, limit int) (found []Booking, more bool, err error) {
	ctx, end := s.begin(ctx, "FindBookings")
	defer end(&err)
	f, err := s.desk.LookUp(ctx, text, limit)
	return f.Bookings, f.More, err
}

// LookUpBookings looks for anybody's bookings, whatever their status, by ID, by reference
// (see [ParseReference]), or by words that the passenger's name begins words with: case and
// accents do not matter. What tickets show of a booking without a reference, the end of its
// ID, finds it too. The newest come first, at most limit of them. By name, or the end of an
// ID, it looks through all bookings until it has found enough.
//
// It returns an [*InvalidError] for a text without a letter or digit.
func (s *Service) LookUpBookings(ctx context.Context, text string, limit int) (_ FoundBookings, err error) {
	ctx, end := s.begin(ctx, "LookUpBookings")
	defer end(&err)
	return s.desk.LookUp(ctx, text, limit)
}

// ExportSubject returns all that the store has of a subject, as a person may ask for it
// (Regulation (EU) 2016/679, article 15). It looks through all bookings.
func (s *Service) ExportSubject(ctx context.Context, of Subject) (_ SubjectData, err error) {
	ctx, end := s.begin(ctx, "ExportSubject")
	defer end(&err)
	return s.desk.Export(ctx, of)
}

// EraseSubject removes who the subject is from all bookings that are over, and ends
// its subscriptions, as a person may ask for it (Regulation (EU) 2016/679, article 17).
// It looks through all bookings. Broken off, it goes on when it is called again.
//
// Idempotency keys hold no more than hashes, and are forgotten after a day. What the
// gateway, and whoever is told of events, know of the subject is theirs to erase.
func (s *Service) EraseSubject(ctx context.Context, of Subject) (_ Erasure, err error) {
	ctx, end := s.begin(ctx, "EraseSubject")
	defer end(&err)
	return s.desk.EraseSubject(ctx, of)
}

// State reads how things stand. It looks through at most 100,000 of what waits, and
// 1,000 of payments and events: larger numbers are not told apart. It is meant to be
// asked every few seconds.
func (s *Service) State(ctx context.Context) (_ State, err error) {
	ctx, end := s.begin(ctx, "State")
	defer end(&err)
	return s.desk.State(ctx)
}

// A Desk shows the operator what was posted, or is to be, to its own endpoints: those of
// [WebhookOptions].Operator. It can have that posted again and ping them, also at a service
// without Webhooks, which leaves the posting to others on its store. Nobody else sees them.
// What the endpoints are, the options say alone. Get one from [Service.Desk].
type Desk struct{ service *Service }

// Desk is for the operator: a program gives it to nobody else.
func (s *Service) Desk() Desk { return Desk{s} }

// theOperator is whose the endpoints are.
func (d Desk) theOperator() records.Subscriber { return records.Subscriber{Operator: true} }

// Subscriptions lists the endpoints to which something was posted, or was to be, the newest
// first.
func (d Desk) Subscriptions(ctx context.Context, page Page) (_ List[Subscription], err error) {
	ctx, end := d.service.begin(ctx, "Desk.Subscriptions")
	defer end(&err)
	return d.service.webhooks.List(ctx, d.theOperator(), page)
}

// Subscription returns one of the endpoints, or ErrNotFound.
func (d Desk) Subscription(ctx context.Context, id uuid.UUID) (_ Subscription, err error) {
	ctx, end := d.service.begin(ctx, "Desk.Subscription")
	defer end(&err)
	return d.service.webhooks.Read(ctx, d.theOperator(), id)
}

// Deliveries is [Service.Deliveries] of one of the endpoints.
func (d Desk) Deliveries(ctx context.Context, sub uuid.UUID, page Page) (_ List[Delivery], err error) {
	ctx, end := d.service.begin(ctx, "Desk.Deliveries")
	defer end(&err)
	return d.service.webhooks.Deliveries(ctx, d.theOperator(), sub, page)
}

// RetryDelivery is [Service.RetryDelivery] to one of the endpoints.
func (d Desk) RetryDelivery(ctx context.Context, sub, id uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := d.service.begin(ctx, "Desk.RetryDelivery")
	defer end(&err)
	return d.service.webhooks.Retry(ctx, d.theOperator(), sub, id, key)
}

// RetryDead is [Service.RetryDead] to one of the endpoints.
func (d Desk) RetryDead(ctx context.Context, sub uuid.UUID) (retried int, err error) {
	ctx, end := d.service.begin(ctx, "Desk.RetryDead")
	defer end(&err)
	return d.service.webhooks.RetryDead(ctx, d.theOperator(), sub)
}

// PingSubscription is [Service.PingSubscription] of one of the endpoints.
func (d Desk) PingSubscription(ctx context.Context, sub uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := d.service.begin(ctx, "Desk.PingSubscription")
	defer end(&err)
	return d.service.webhooks.Ping(ctx, d.theOperator(), sub, key)
}

type (
	// A BookingHistory is all that is known of a booking.
	BookingHistory = rail.BookingHistory
	// FoundBookings is what [Service.LookUpBookings] has found.
	FoundBookings = rail.FoundBookings
	// A Run is a train on one service date, as its operator sees it.
	Run = rail.Run
	// A RunCall is where a run calls, in the order of travel. Times are in the time zone of
	// the station; the first Arrive and the last Depart mean nothing.
	RunCall = rail.RunCall
	// A Manifest says who travels on a run, and what is left of it.
	Manifest = rail.Manifest
	// A Rider is one booking on a run. Holds that have run out are none.
	Rider = rail.Rider
	// A Block is a place that is not for sale between two calls, see [Service.Block].
	Block = rail.Block
	// A Section counts the places of a run between two adjacent calls. On an unreserved train
	// Free is zero and means nothing.
	Section = rail.Section
	// A RunCancellation says what CancelRun has done.
	RunCancellation = rail.RunCancellation
	// CancelRunOptions are what CancelRun may be told. The zero value works.
	CancelRunOptions = rail.CancelRunOptions
	// SubjectData is all that a store has of a subject.
	SubjectData = rail.SubjectData
	// An Erasure says what EraseSubject did.
	Erasure = rail.Erasure
	// A State is how things stand with the store of a service: what whoever watches over it
	// looks at beside what its [Observer] is told.
	State = rail.State
	// A TimetableState tells of the timetable in force. It is zero if there is none.
	TimetableState = rail.TimetableState
	// Waiting is what waits to be done: how much, and since when the longest.
	Waiting = rail.Waiting
)
