package traintravel

import (
	"context"

	"github.com/google/uuid"
)

// What an operator asks and does. These methods take no [Caller]: what they show and change
// is anybody's, so a program lets nobody but the operator's staff call them.

// Runs lists the trains of a number on a date, as the timetable in force has
// them: letter case and blanks do not matter. A number may be several trains'.
// It returns an [*InvalidError] for an empty number, and [ErrNoTimetable].
func (s *Service) Runs(ctx context.Context, number string, date Date) (_ []Run, err error) {
	ctx, end := s.begin(ctx, "Runs")
	defer end(&err)
	return s.desk.runs(ctx, number, date)
}

// Manifest says who travels on a run of the timetable in force, as of one
// instant. On a train with numbered places it reads that run alone; on one
// without, it looks through all bookings. ErrNotFound: no such train runs then.
func (s *Service) Manifest(ctx context.Context, id RunID) (_ Manifest, err error) {
	ctx, end := s.begin(ctx, "Manifest")
	defer end(&err)
	return s.desk.manifest(ctx, id)
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
	return s.desk.block(ctx, run, blocks...)
}

// Unblock puts places that [Service.Block] took out of sale back into it, all of
// them or none. Blocks are those of [Service.Manifest]; one that is not there is
// ErrNotFound, which the error wraps to say which. [ErrArrived]: the train has run.
func (s *Service) Unblock(ctx context.Context, run RunID, blocks ...Block) (err error) {
	ctx, end := s.begin(ctx, "Unblock")
	defer end(&err)
	return s.desk.unblock(ctx, run, blocks...)
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
	return s.desk.cancelRun(ctx, run, opts)
}

// RestoreRun puts a cancelled run back into sale. Its bookings stay cancelled.
// ErrNotFound: no such run is cancelled.
func (s *Service) RestoreRun(ctx context.Context, run RunID) (err error) {
	ctx, end := s.begin(ctx, "RestoreRun")
	defer end(&err)
	return s.desk.restoreRun(ctx, run)
}

// BookingHistory returns anybody's booking, whatever its status, and what was paid
// for it. ErrNotFound: there is none.
func (s *Service) BookingHistory(ctx context.Context, id uuid.UUID) (_ BookingHistory, err error) {
	ctx, end := s.begin(ctx, "BookingHistory")
	defer end(&err)
	return s.desk.history(ctx, id)
}

// FindBookings is [Service.LookUpBookings] without the number of bookings that could
// not be read.
func (s *Service) FindBookings(ctx context.Context, text string, limit int) (found []Booking, more bool, err error) {
	ctx, end := s.begin(ctx, "FindBookings")
	defer end(&err)
	f, err := s.desk.lookUp(ctx, text, limit)
	return f.Bookings, f.More, err
}

// LookUpBookings looks for anybody's bookings, whatever their status, by ID or by
// words that the passenger's name begins words with: case and accents do not
// matter. The newest come first, at most limit of them. By name it looks through all
// bookings until it has found enough.
//
// It returns an [*InvalidError] for a text without a letter or digit.
func (s *Service) LookUpBookings(ctx context.Context, text string, limit int) (_ FoundBookings, err error) {
	ctx, end := s.begin(ctx, "LookUpBookings")
	defer end(&err)
	return s.desk.lookUp(ctx, text, limit)
}

// ExportSubject returns all that the store has of a subject, as a person may ask for it
// (Regulation (EU) 2016/679, article 15). It looks through all bookings.
func (s *Service) ExportSubject(ctx context.Context, of Subject) (_ SubjectData, err error) {
	ctx, end := s.begin(ctx, "ExportSubject")
	defer end(&err)
	return s.desk.export(ctx, of)
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
	return s.desk.eraseSubject(ctx, of)
}

// State reads how things stand. It looks through at most 100,000 of what waits, and
// 1,000 of payments and events: larger numbers are not told apart. It is meant to be
// asked every few seconds.
func (s *Service) State(ctx context.Context) (_ State, err error) {
	ctx, end := s.begin(ctx, "State")
	defer end(&err)
	return s.desk.state(ctx)
}
