package pgstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/group"
)

const (
	// maxCalls is how many closures a group has at most.
	maxCalls = 512
	// maxRuns is how often a closure runs to find out what it reads. One that
	// goes on reading then waits for each read by itself.
	maxRuns = 4
)

const (
	beginUpdate = "begin isolation level read committed read write"
	readLane    = "select last from traintravel_lanes where id = $1"
	writeLane   = "insert into traintravel_lanes (id, last, at) values ($1, $2, now()) on conflict (id) do update set last = excluded.last, at = excluded.at"
	// nextInLane fails if a later group of the lane was committed or given up:
	// what was sent in one piece may arrive long after its connection was lost.
	nextInLane = "insert into traintravel_lanes as lane (id, last, at) values ($1, $2, now()) on conflict (id) do update set last = case when lane.last < excluded.last then excluded.last end, at = excluded.at"
)

// Update implements [traintravel.Store].
func (s *Store) Update(ctx context.Context, fn func(traintravel.Tx) error) error {
	return s.queue.Update(ctx, fn, s.lead)
}

// lead commits one group, the caller's own call first.
func (s *Store) lead(own *group.Call) {
	b := &batch{store: s, lane: &s.lane, err: group.ErrGoexit}
	begun := time.Now()
	defer func() {
		b.answer()
		if s.told != nil && (b.over != nil || b.err != nil) {
			s.told(len(b.calls), time.Since(begun), b.err)
		}
	}()
	for c := own; c != nil && len(b.calls) < maxCalls; c = s.queue.Take() {
		b.calls = append(b.calls, c)
	}
	b.err = s.retry(context.Background(), b.attempt)
}

// A batch is the calls that share one transaction of the database.
type batch struct {
	store *Store
	lane  *lane
	calls []*group.Call
	err   error // why nothing was committed

	conn  *pgxpool.Conn
	begun bool // the transaction, which has the lock
	base  base
	over  group.Overlay

	careful bool // records that were not read may be there already

	failed error // a read of a closure's that had to be fetched at once
}

func (b *batch) answer() {
	for _, c := range b.calls {
		if b.err != nil {
			c.Err = b.err
		}
		c.Answer()
	}
}

// attempt runs all closures and commits once: with records that nobody has read
// taken for new, which they mostly are and which costs the database less, and
// again without if one was not.
func (b *batch) attempt(ctx context.Context) error {
	err := b.try(ctx)
	if !b.careful && isDuplicate(err) {
		b.careful = true
		err = b.try(ctx)
	}
	return err
}

func (b *batch) try(ctx context.Context) (err error) {
	b.base, b.over, b.begun, b.failed = base{}, nil, false, nil
	defer b.release()
	later := b.run(b.calls, nil)
	for runs := 1; len(later) > 0; runs++ {
		if err := b.fetch(ctx); err != nil {
			return err
		}
		var fetch func() error
		if runs >= maxRuns {
			fetch = func() error { return b.fetch(ctx) }
		}
		later = b.run(later, fetch)
		if b.failed != nil {
			return b.failed
		}
	}
	if b.over == nil {
		return b.giveUp(ctx)
	}
	return b.commit(ctx)
}

// run runs closures on what is known of the database and what those before them
// have written, and returns the ones that have to run again because they read
// what is not known yet. The order in which closures are done is that in which
// their updates appear to have run. With fetch, what is not known is fetched while
// the closure waits.
func (b *batch) run(calls []*group.Call, fetch func() error) (later []*group.Call) {
	for _, c := range calls {
		if c.Err = c.Ctx.Err(); c.Err != nil {
			continue
		}
		r := &reader{base: &b.base, over: b.over, fetch: fetch}
		t := &group.Tx{Reader: r}
		wants := c.Run(t)
		switch {
		case r.failed != nil:
			b.failed = r.failed
			return nil
		case r.missing: // whatever the closure made of the error that it got
			later = append(later, c)
		case wants && len(t.Writes) > 0:
			b.over.Merge(t.Writes)
		}
	}
	return later
}

// fetch reads what closures wanted, after taking the lock, in one round trip.
func (b *batch) fetch(ctx context.Context) error {
	var q pgx.Batch
	if err := b.begin(ctx, &q); err != nil {
		return err
	}
	b.base.queue(&q)
	return b.conn.SendBatch(ctx, &q).Close()
}

// begin queues what begins the transaction, unless it has begun.
func (b *batch) begin(ctx context.Context, q *pgx.Batch) (err error) {
	if b.begun {
		return nil
	}
	if b.conn, err = b.store.pool.Acquire(ctx); err != nil {
		return err
	}
	b.begun = true
	q.Queue(beginUpdate)
	q.Queue(b.store.session.takeLock)
	return nil
}

// giveUp ends a transaction that has nothing to write.
func (b *batch) giveUp(ctx context.Context) error {
	if !b.begun {
		return nil
	}
	// What the closures decided is decided, whatever becomes of this.
	_, _ = b.conn.Exec(ctx, "rollback")
	return nil
}

// release gives the connection back. The pool closes one that is in a
// transaction.
func (b *batch) release() {
	if b.conn != nil {
		b.conn.Release()
		b.conn = nil
	}
}

// commit writes the overlay and commits, in one round trip.
func (b *batch) commit(ctx context.Context) error {
	var q pgx.Batch
	if err := b.begin(ctx, &q); err != nil {
		return err
	}
	for i, ws := range b.over {
		t := traintravel.Table(i)
		var deletes [][]byte
		var fresh, known puts
		for _, w := range ws {
			switch {
			case w.Value == nil:
				deletes = append(deletes, []byte(w.ID))
			case b.careful || b.base.has(w):
				known.add(w)
			default:
				fresh.add(w)
			}
		}
		if len(deletes) > 0 {
			q.Queue(remove(t), deletes)
		}
		if len(known.ids) > 0 {
			q.Queue(upsert(t), known.ids, known.values)
		}
		if len(fresh.ids) > 0 {
			q.Queue(insert(t), fresh.ids, fresh.values)
		}
	}
	b.lane.last++
	q.Queue(nextInLane, b.lane.id, b.lane.last)
	q.Queue("commit")
	warnings := b.conn.Conn().PgConn().CustomData()
	delete(warnings, warned)
	err := b.conn.SendBatch(ctx, &q).Close()
	if err == nil && warnings[warned] == nil {
		return nil
	}
	if answered(err) {
		if isDuplicate(err) {
			_, _ = b.conn.Exec(ctx, "rollback") // the connection goes back to the pool
		}
		return err
	}
	// The response was lost, or the standby may not have the update.
	if err == nil {
		err = fmt.Errorf("the server warned: %v", warnings[warned])
	}
	b.release()
	return b.settle(err)
}

// puts are the records of one statement.
type puts struct{ ids, values [][]byte }

func (p *puts) add(w group.Write) {
	p.ids, p.values = append(p.ids, []byte(w.ID)), append(p.values, w.Value)
}

func isDuplicate(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.Code == "23505"
}

// answered says whether the server itself told that a transaction was not
// committed. One that it was about to commit when it shut down it does not speak
// of.
func answered(err error) bool {
	var server *pgconn.PgError
	return errors.As(err, &server) && server.SeverityUnlocalized == "ERROR"
}

// settle finds out what became of a commit that was not answered. It takes the
// lock, so that the transaction has ended one way or the other, and writes, so
// that its own commit, which comes later, is acknowledged by whatever has to
// acknowledge the first. A group that was not committed is given up for good: the
// lane goes on with a number that it may not be committed after.
func (b *batch) settle(lost error) error {
	var committed bool
	sent := b.lane.last
	b.lane.last++
	// It has as much time again as the update had.
	err := b.store.retry(context.Background(), func(ctx context.Context) (err error) {
		committed, err = b.look(ctx, sent)
		return err
	})
	switch {
	case err != nil:
		return fmt.Errorf("pgstore: %w: %w; then: %w", traintravel.ErrUnknownOutcome, lost, err)
	case committed:
		return nil
	}
	return fmt.Errorf("the commit was lost: %w", lost)
}

// look says whether a group was committed; if not, it makes sure that it never will be.
func (b *batch) look(ctx context.Context, sent int64) (committed bool, err error) {
	conn, err := b.store.pool.Acquire(ctx)
	if err != nil {
		return false, err
	}
	defer conn.Release()
	var last int64
	var q pgx.Batch
	q.Queue(beginUpdate)
	q.Queue(b.store.session.takeLock)
	q.Queue(readLane, b.lane.id).QueryRow(func(row pgx.Row) error {
		if err := row.Scan(&last); !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		return nil
	})
	if err := conn.SendBatch(ctx, &q).Close(); err != nil {
		return false, err
	}
	if committed = last == sent; !committed {
		last = b.lane.last
	}
	q = pgx.Batch{}
	q.Queue(writeLane, b.lane.id, last)
	q.Queue("commit")
	warnings := conn.Conn().PgConn().CustomData()
	delete(warnings, warned)
	if err := conn.SendBatch(ctx, &q).Close(); err != nil {
		return false, err
	}
	if w := warnings[warned]; w != nil {
		return false, fmt.Errorf("the server warned: %v", w)
	}
	return committed, nil
}
