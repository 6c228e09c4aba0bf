package history

import (
	"context"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/store/memstore"
)

// load imports another edition of the timetable.
func (op *operation) load() {
	edition := timetable(op.Seed, op.r.IntN(editions))
	var report traintravel.LoadReport
	var err error
	told := op.told(func(ctx context.Context, s *server) { report, err = s.LoadTimetable(ctx, edition) })
	op.say("imports a timetable: %d bookings stranded, %s", len(report.Stranded), result(err))
	op.tell(func(m *model.Model) {
		if err != nil && !model.Unanswered(err) {
			m.Fail("A1", "an import was answered with %v", err)
		}
		m.Loaded(edition, err == nil)
		if err == nil {
			m.Stranded(told, edition, report)
		}
	})
	op.lookAgain()
}

// lookAgain reads the bookings on trains that have a twin: an import may have given them from
// one of the two to the other, or back.
func (op *operation) lookAgain() {
	bare := op.bare()
	op.mu.Lock()
	twins := op.m.OnTwins()
	op.mu.Unlock()
	for _, b := range twins {
		begin := time.Now()
		if got, err := bare.BookingHistory(context.Background(), b.ID); err == nil {
			op.tell(func(m *model.Model) { m.Found(model.Told{Begin: begin, End: time.Now()}, b, got.Booking) })
		}
	}
}

// move copies all data to another store, from which the servers go on.
func (op *operation) move() {
	seldom, broken := op.r.IntN(20) == 0, op.r.IntN(4) == 0
	if !seldom || op.Open != nil || op.traffic != nil {
		return
	}
	old, to := op.w.Disk.Bare(), memstore.New()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	opts := traintravel.CopyOptions{}
	if broken {
		opts.Progress = func(_, _ int64) { cancel() }
	}
	err := traintravel.Copy(ctx, to, old, opts)
	op.say("the operator copies the data to another store: %s", result(err))
	switch {
	case err == nil:
		op.w.Disk.Move(to)
	case !broken || !model.Unanswered(err):
		op.tell(func(m *model.Model) { m.Fail("A1", "a copy was answered with %v", err) })
		return
	default:
		return
	}
	opts = traintravel.CopyOptions{}
	if err := traintravel.Copy(context.Background(), to, old, opts); err != nil {
		op.tell(func(m *model.Model) { m.Fail("A1", "a copy that was complete was answered with %v", err) })
	}
	op.mu.Lock()
	for _, s := range op.servers { // each starts anew, on the other store
		s.seat.Kill()
	}
	op.mu.Unlock()
}
