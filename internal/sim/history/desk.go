package history

import (
	"context"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/sim/model"
	"github.com/traintravel/traintravel/internal/sim/world"
)

// deskKinds are what the operator does, besides imports.
func deskKinds() []kind {
	return []kind{
		{"cancel run", 1, (*operation).cancelRun},
		{"restore run", 1, (*operation).restoreRun},
		{"block", 2, (*operation).block},
		{"unblock", 1, (*operation).unblock},
		{"manifest", 2, (*operation).manifest},
		{"erase", 1, (*operation).erase},
	}
}

// seldom reports whether the operation happens that has a part of the whole day's data to
// read: in a long history there is more of them, and fewer such operations.
func (op *operation) seldom() bool {
	return op.r.Float64()*float64(op.Days) < 30
}

// leg draws a leg of a booking that was made not long before, nil if there is none.
func (op *operation) leg() *traintravel.Leg {
	o := op.target(op.n, op.r)
	which := op.r.Float64()
	if o == nil || o.Booking == nil {
		return nil
	}
	return &o.Trip.Legs[int(which*float64(len(o.Trip.Legs)))]
}

// run asks for a train's run, and returns the one with an ID if there is one, else the
// first. It returns nil without an answer, or if the train does not run.
func (op *operation) run(l line, id traintravel.RunID) *traintravel.Run {
	var runs []traintravel.Run
	var err error
	op.told(func(ctx context.Context, s *server) { runs, err = s.Runs(ctx, l.number, l.date) })
	if err != nil {
		if !model.Unanswered(err) {
			op.m.Fail("A1", "a question for runs was answered with %v", err)
		}
		return nil
	}
	for i := range runs {
		if runs[i].ID == id {
			return &runs[i]
		}
	}
	if len(runs) == 0 {
		return nil
	}
	return &runs[0]
}

// cancelRun cancels a run on which something was booked not long before.
func (op *operation) cancelRun() {
	leg, past, seldom := op.leg(), op.r.IntN(4) == 0, op.seldom()
	if leg == nil || !seldom {
		return
	}
	run := op.run(line{leg.Number, leg.Run.Date}, leg.Run)
	arrives := time.Time{}
	if run != nil && run.ID == leg.Run {
		arrives = run.Calls[len(run.Calls)-1].Arrive
	}
	op.closeRun(leg.Run, past, arrives)
}

// closeRun cancels a run, and again a few times if there is no answer.
func (op *operation) closeRun(run traintravel.RunID, past bool, arrives time.Time) {
	for try := range again {
		var got traintravel.RunCancellation
		var err error
		op.m.Closing(run)
		told := op.told(func(ctx context.Context, s *server) {
			got, err = s.CancelRun(ctx, run, traintravel.CancelRunOptions{Past: past})
		})
		op.say("the operator cancels the run of train %s on %v: %d bookings, %s", world.Short(run.Train), run.Date, got.Bookings, result(err))
		op.m.Closed(told, run, arrives, got, err)
		if err == nil {
			op.desk.closed = append(op.desk.closed, run)
		}
		if !model.Unanswered(err) {
			return
		}
		op.s = op.server(op.serverOf(op.n) + try + 1)
	}
	op.desk.unfinished = append(op.desk.unfinished, run)
}

// restoreRun puts a cancelled run back into sale.
func (op *operation) restoreRun() {
	which := op.r.Float64()
	if len(op.desk.closed) == 0 {
		return
	}
	i := int(which * float64(len(op.desk.closed)))
	run := op.desk.closed[i]
	var err error
	op.m.Opening(run)
	op.told(func(ctx context.Context, s *server) { err = s.RestoreRun(ctx, run) })
	op.say("the operator puts the run of train %s on %v back into sale: %s", world.Short(run.Train), run.Date, result(err))
	op.m.Opened(run, err)
	if err == nil {
		op.desk.closed = append(op.desk.closed[:i:i], op.desk.closed[i+1:]...)
	}
}

// block takes a place of a run out of sale.
func (op *operation) block() {
	leg := op.leg()
	coach, seat, from, to := op.r.Float64(), op.r.Float64(), op.r.Float64(), op.r.Float64()
	if leg == nil {
		return
	}
	l := line{leg.Number, leg.Run.Date}
	run := op.run(l, leg.Run)
	if run == nil || len(run.Coaches) == 0 {
		return
	}
	c := run.Coaches[int(coach*float64(len(run.Coaches)))]
	b := traintravel.Block{Coach: c.Number, Seat: 1 + int(seat*float64(c.Seats))}
	b.Board = int(from * float64(len(run.Calls)-1))
	b.Alight = b.Board + 1 + int(to*float64(len(run.Calls)-1-b.Board))
	var err error
	told := op.told(func(ctx context.Context, s *server) { err = s.Block(ctx, run.ID, b) })
	op.say("the operator blocks seat %d in coach %s of %s on %v from call %d to %d: %s", b.Seat, b.Coach, l.number, l.date, b.Board, b.Alight, result(err))
	op.m.Blocked(told, *run, b, err)
	if err == nil {
		op.desk.blocked = append(op.desk.blocked, l)
	}
}

// unblock puts a blocked place back into sale.
func (op *operation) unblock() {
	line, which := op.r.Float64(), op.r.Float64()
	if len(op.desk.blocked) == 0 {
		return
	}
	i := int(line * float64(len(op.desk.blocked)))
	l := op.desk.blocked[i]
	m := op.readManifest(l, traintravel.RunID{})
	if m == nil {
		return
	}
	if len(m.Blocks) == 0 {
		op.desk.blocked = append(op.desk.blocked[:i:i], op.desk.blocked[i+1:]...)
		return
	}
	b := m.Blocks[int(which*float64(len(m.Blocks)))]
	var err error
	op.m.Unblocking(m.Run, b)
	told := op.told(func(ctx context.Context, s *server) { err = s.Unblock(ctx, m.Run.ID, b) })
	op.say("the operator unblocks seat %d in coach %s of %s on %v: %s", b.Seat, b.Coach, l.number, l.date, result(err))
	op.m.Unblocked(told, m.Run, b, err)
}

// manifest asks who travels on a run.
func (op *operation) manifest() {
	if leg := op.leg(); leg != nil {
		op.readManifest(line{leg.Number, leg.Run.Date}, leg.Run)
	}
}

func (op *operation) readManifest(l line, id traintravel.RunID) *traintravel.Manifest {
	run := op.run(l, id)
	if run == nil {
		return nil
	}
	var got traintravel.Manifest
	var err error
	told := op.told(func(ctx context.Context, s *server) { got, err = s.Manifest(ctx, run.ID) })
	op.say("the operator asks who travels on %s on %v: %d riders, %s", l.number, l.date, len(got.Riders), result(err))
	if err != nil {
		if !model.Unanswered(err) {
			op.m.Fail("A1", "a manifest was answered with %v", err)
		}
		return nil
	}
	op.m.Manifested(told, got)
	return &got
}

// erase removes the data of a user's bookings that are over.
func (op *operation) erase() {
	by, seldom := op.user(), op.seldom() && op.r.IntN(4) == 0
	if !seldom {
		return
	}
	var got traintravel.Erasure
	var err error
	op.m.Erasing(by.ID)
	op.m.EndingAll(by.ID)
	told := op.told(func(ctx context.Context, s *server) { got, err = s.EraseSubject(ctx, by.Subject) })
	op.say("the operator erases %s: %d bookings, %d kept, %s", by.ID, got.Bookings, len(got.Kept), result(err))
	op.m.Erased(told, by.ID, got, err)
	op.m.EndedAll(told, by.ID, err)
	if err != nil {
		return
	}
	var data traintravel.SubjectData
	told = op.told(func(ctx context.Context, s *server) { data, err = s.ExportSubject(ctx, by.Subject) })
	op.say("the operator exports %s: %d bookings, %s", by.ID, len(data.Bookings), result(err))
	op.m.Exported(told, by.ID, data, err)
}

// finishDesk cancels again the runs whose cancellation had no answer.
func (h *history) finishDesk() {
	for i, run := range h.desk.unfinished {
		op := &operation{history: h, n: -1 - i, r: h.Seed.At("finish desk", uint64(i)), s: h.servers[0]}
		op.closeRun(run, true, time.Time{})
	}
}
