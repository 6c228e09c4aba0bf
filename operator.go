package traintravel

import (
	"context"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel/internal/records"
	"github.com/traintravel/traintravel/rail"
)

// What an operator asks and does. These methods take no [Caller]: what they show and change
// is anybody's, so a program lets nobody but the operator's staff call them.

// Runs returns the trains with a number on a date, according to the current timetable.
// Letter case and blanks in the number are ignored. Several trains may share a number.
// It returns an [*InvalidError] for an empty number, and [ErrNoTimetable].
func (s *Service) Runs(ctx context.Context, number string, date Date) (_ []Run, err error) {
	ctx, end := s.begin(ctx, "Runs")
	defer end(&err)
	return s.desk.Runs(ctx, number, date)
}

// Manifest returns the passengers of a run of the current timetable, on one snapshot.
// For a train with numbered places it reads that run only; otherwise it scans all
// bookings. It returns ErrNotFound if the train does not run then.
func (s *Service) Manifest(ctx context.Context, id RunID) (_ Manifest, err error) {
	ctx, end := s.begin(ctx, "Manifest")
	defer end(&err)
	return s.desk.Manifest(ctx, id)
}

// Block takes places of a run out of sale between two of its calls, all of them
// or none: for staff, a missing coach or a broken seat. If a place is already held,
// paid or blocked there, the error wraps [ErrPlaceTaken] and names the place. Blocks
// survive a new timetable, like bookings.
//
// It returns ErrNotFound if the train does not run then, [ErrArrived] if it has
// arrived, and an [*InvalidError] for a place or call that the run does not have.
func (s *Service) Block(ctx context.Context, run RunID, blocks ...Block) (err error) {
	ctx, end := s.begin(ctx, "Block")
	defer end(&err)
	return s.desk.Block(ctx, run, blocks...)
}

// Unblock puts places that [Service.Block] took out of sale back on sale, all of them or
// none. Take the blocks from [Service.Manifest]. It returns an error that wraps ErrNotFound
// and names the block if one does not exist, and [ErrArrived] if the train has arrived.
func (s *Service) Unblock(ctx context.Context, run RunID, blocks ...Block) (err error) {
	ctx, end := s.begin(ctx, "Unblock")
	defer end(&err)
	return s.desk.Unblock(ctx, run, blocks...)
}

// CancelRun takes a run out of sale and cancels its bookings: holds end, and
// confirmed bookings are refunded in full, regardless of Options.Cancel and of
// whether the train has departed. Bookings of several trains are cancelled as a whole.
// It queues [BookingCancelled] for each.
//
// From the first step on, the run cannot be booked. If an error or the end of ctx
// interrupts it, call it again: it continues where it stopped.
//
// It skips runs and bookings that cannot be read, and reports them.
//
// It returns ErrNotFound if the train does not run then and has no bookings, and
// [ErrArrived] if it has arrived by the timetable, unless opts.Past is set.
func (s *Service) CancelRun(ctx context.Context, run RunID, opts CancelRunOptions) (_ RunCancellation, err error) {
	ctx, end := s.begin(ctx, "CancelRun")
	defer end(&err)
	return s.desk.CancelRun(ctx, run, opts)
}

// RestoreRun puts a cancelled run back on sale. Its bookings stay cancelled. It returns
// ErrNotFound if the run is not cancelled.
func (s *Service) RestoreRun(ctx context.Context, run RunID) (err error) {
	ctx, end := s.begin(ctx, "RestoreRun")
	defer end(&err)
	return s.desk.RestoreRun(ctx, run)
}

// BookingHistory returns a booking of any user, whatever its status, and its payments.
// It returns ErrNotFound if the booking does not exist.
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

// LookUpBookings finds bookings of any user, whatever their status, by ID, by reference
// (see [ParseReference]), or by the beginnings of words in the passenger's name; case and
// accents are ignored. For a booking without a reference, it also accepts what its tickets
// show, the end of its ID. It returns at most limit bookings, newest first. By name, or by the
// end of an ID, it scans all bookings until it has found enough.
//
// It returns an [*InvalidError] for a text without a letter or digit.
func (s *Service) LookUpBookings(ctx context.Context, text string, limit int) (_ FoundBookings, err error) {
	ctx, end := s.begin(ctx, "LookUpBookings")
	defer end(&err)
	return s.desk.LookUp(ctx, text, limit)
}

// ExportSubject returns all data about a subject in the store, as a person may request
// (Regulation (EU) 2016/679, article 15). It scans all bookings.
func (s *Service) ExportSubject(ctx context.Context, of Subject) (_ SubjectData, err error) {
	ctx, end := s.begin(ctx, "ExportSubject")
	defer end(&err)
	return s.desk.Export(ctx, of)
}

// EraseSubject removes the subject's personal data from all bookings that have ended, and
// ends its subscriptions, as a person may request (Regulation (EU) 2016/679, article 17).
// It scans all bookings. If it is interrupted, call it again to continue.
//
// Idempotency keys contain only hashes and are deleted after a day. The gateway, and the
// receivers of events, have to erase their own data.
func (s *Service) EraseSubject(ctx context.Context, of Subject) (_ Erasure, err error) {
	ctx, end := s.begin(ctx, "EraseSubject")
	defer end(&err)
	return s.desk.EraseSubject(ctx, of)
}

// State returns the state of the store. It counts at most 100,000 items of waiting work, and
// 1,000 payments and events; larger numbers are reported as these limits. It may be called
// every few seconds.
func (s *Service) State(ctx context.Context) (_ State, err error) {
	ctx, end := s.begin(ctx, "State")
	defer end(&err)
	return s.desk.State(ctx)
}

// A Desk shows the operator the deliveries to the operator's own endpoints, those of
// [WebhookOptions].Operator. It can retry these deliveries and ping the endpoints, also in a
// service without Webhooks, which leaves posting to other services on its store. No caller
// can see these deliveries. Only the options define the endpoints. [Service.Desk] returns one.
type Desk struct{ service *Service }

// Desk returns the operator's Desk. Do not make it available to users.
func (s *Service) Desk() Desk { return Desk{s} }

// theOperator is whose the endpoints are.
func (d Desk) theOperator() records.Subscriber { return records.Subscriber{Operator: true} }

// Subscriptions lists the endpoints that have deliveries, newest first.
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

// Deliveries is [Service.Deliveries] for one of the endpoints.
func (d Desk) Deliveries(ctx context.Context, sub uuid.UUID, page Page) (_ List[Delivery], err error) {
	ctx, end := d.service.begin(ctx, "Desk.Deliveries")
	defer end(&err)
	return d.service.webhooks.Deliveries(ctx, d.theOperator(), sub, page)
}

// RetryDelivery is [Service.RetryDelivery] for one of the endpoints.
func (d Desk) RetryDelivery(ctx context.Context, sub, id uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := d.service.begin(ctx, "Desk.RetryDelivery")
	defer end(&err)
	return d.service.webhooks.Retry(ctx, d.theOperator(), sub, id, key)
}

// RetryDead is [Service.RetryDead] for one of the endpoints.
func (d Desk) RetryDead(ctx context.Context, sub uuid.UUID) (retried int, err error) {
	ctx, end := d.service.begin(ctx, "Desk.RetryDead")
	defer end(&err)
	return d.service.webhooks.RetryDead(ctx, d.theOperator(), sub)
}

// PingSubscription is [Service.PingSubscription] for one of the endpoints.
func (d Desk) PingSubscription(ctx context.Context, sub uuid.UUID, key string) (_ Delivery, err error) {
	ctx, end := d.service.begin(ctx, "Desk.PingSubscription")
	defer end(&err)
	return d.service.webhooks.Ping(ctx, d.theOperator(), sub, key)
}

type (
	// A BookingHistory is a booking with its payments.
	BookingHistory = rail.BookingHistory
	// FoundBookings is the result of [Service.LookUpBookings].
	FoundBookings = rail.FoundBookings
	// A Run is a train on one service date, as its operator sees it.
	Run = rail.Run
	// A RunCall is a call of a run, in the order of travel. Times are in the time zone of the
	// station; the first Arrive and the last Depart have no meaning.
	RunCall = rail.RunCall
	// A Manifest lists the passengers of a run and its free places.
	Manifest = rail.Manifest
	// A Rider is a booking on a run. Expired holds are not included.
	Rider = rail.Rider
	// A Block is a place that is not for sale between two calls, see [Service.Block].
	Block = rail.Block
	// A Section counts the places of a run between two adjacent calls. On an unreserved train
	// Free is zero and has no meaning.
	Section = rail.Section
	// A RunCancellation says what CancelRun has done.
	RunCancellation = rail.RunCancellation
	// CancelRunOptions configures CancelRun. The zero value is valid.
	CancelRunOptions = rail.CancelRunOptions
	// SubjectData is all data about a subject in a store.
	SubjectData = rail.SubjectData
	// An Erasure says what EraseSubject did.
	Erasure = rail.Erasure
	// A State describes the store of a service, for monitoring; [Observer] reports the
	// operations of the service.
	State = rail.State
	// A TimetableState describes the current timetable. It is zero without a timetable.
	TimetableState = rail.TimetableState
	// Waiting is the amount of waiting work of a kind, and since when the oldest item waits.
	Waiting = rail.Waiting
)
