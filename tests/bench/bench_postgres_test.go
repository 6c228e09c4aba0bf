package bench_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/store/pgstore"
)

// The benchmarks of PostgreSQL compare the service with transactions written by
// hand, on the same server, with as many connections, in turns.

const pgCallers = 64

// handwritten is a database as one would write it for bookings alone.
type handwritten struct{ pool *pgxpool.Pool }

const handSchema = `
create table hand_runs (id int primary key, free int not null);
create table hand_bookings (id uuid primary key, run int not null, owner text not null, value bytea not null);
create table hand_events (id uuid primary key, value bytea not null);
insert into hand_runs select i, 1000000000 from generate_series(0, 9999) i`

func newHandwritten(b *testing.B, url string) *handwritten {
	b.Helper()
	pool, err := pgxpool.New(b.Context(), url)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	if _, err := pool.Exec(b.Context(), handSchema); err != nil {
		b.Fatal(err)
	}
	return &handwritten{pool}
}

var handBooking, handEvent = make([]byte, 300), make([]byte, 60)

// oneStatement books as the best of hand-written transactions does.
func (h *handwritten) oneStatement(ctx context.Context, run, i int) error {
	id := uuid.Must(uuid.NewV7())
	tag, err := h.pool.Exec(ctx, `
with run as (update hand_runs set free = free - 1 where id = $1 and free > 0 returning id),
booking as (insert into hand_bookings select $2, id, $3, $4 from run returning id)
insert into hand_events select id, $5 from booking`, run, id, fmt.Sprint("user-", i), handBooking, handEvent)
	if err == nil && tag.RowsAffected() != 1 {
		err = errors.New("nothing was booked")
	}
	return err
}

// fourStatements books as most programs do.
func (h *handwritten) fourStatements(ctx context.Context, run, i int) error {
	id := uuid.Must(uuid.NewV7())
	return pgx.BeginFunc(ctx, h.pool, func(tx pgx.Tx) error {
		var free int
		if err := tx.QueryRow(ctx, "select free from hand_runs where id = $1 for update", run).Scan(&free); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "update hand_runs set free = free - 1 where id = $1", run); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, "insert into hand_bookings values ($1, $2, $3, $4)", id, run, fmt.Sprint("user-", i), handBooking); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, "insert into hand_events values ($1, $2)", id, handEvent)
		return err
	})
}

// pgService is a service on a database, with a store of its own.
func pgService(b *testing.B, url string) *traintravel.Service {
	b.Helper()
	store, err := pgstore.Open(b.Context(), url, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = store.Close() })
	s, err := traintravel.New(store, benchOptions)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func pgBenchURL(b *testing.B) string {
	return pgtest.Start(b, "max_connections=300", "shared_buffers=512MB", "max_wal_size=4GB").NewDatabase(b) + fmt.Sprintf("&pool_max_conns=%d", pgCallers)
}

// rate is how many calls a second a number of callers make.
func rate(b *testing.B, callers, n int, call func(i int) error) float64 {
	b.Helper()
	t, err := parallel(callers, n, call)
	if err != nil {
		b.Fatal(err)
	}
	return float64(n) / t.Seconds()
}

// BenchmarkPostgresBooking books durably on many runs, and reports how that
// compares with a hand-written transaction of one statement.
func BenchmarkPostgresBooking(b *testing.B) {
	url := pgBenchURL(b)
	service, hand := pgService(b, url), newHandwritten(b, url)
	if _, err := service.LoadTimetable(b.Context(), officetest.DemoNetwork(b)); err != nil {
		b.Fatal(err)
	}
	trips := spreadTrips(b, service, 20_000)
	var ours, theirs []float64
	n := 0
	for b.Loop() {
		for range benchRounds + 1 {
			const per = 6400
			base := n
			n += per
			o := rate(b, pgCallers, per, func(i int) error {
				_, err := service.CreateBooking(b.Context(), caller(base+i), traintravel.NewBooking{TripID: trips[(base+i)%len(trips)], PassengerName: "Ada Lovelace"})
				return err
			})
			t := rate(b, pgCallers, per, func(i int) error { return hand.oneStatement(b.Context(), (base+i)%10_000, i) })
			if base > 0 { // the first round warms up
				ours, theirs = append(ours, o), append(theirs, t)
			}
		}
	}
	report(b, ours, theirs, "bookings/s", "of-one-statement")
}

func report(b *testing.B, ours, theirs []float64, unit, ratio string) {
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(ours), unit)
	b.ReportMetric(median(ours)/median(theirs), ratio)
}

// BenchmarkPostgresHotRun has all callers book the same run until it is full,
// then the next, and reports how that compares with a hand-written transaction of
// four statements on one row.
func BenchmarkPostgresHotRun(b *testing.B) {
	url := pgBenchURL(b)
	service, hand := pgService(b, url), newHandwritten(b, url)
	if _, err := service.LoadTimetable(b.Context(), officetest.DemoNetwork(b)); err != nil {
		b.Fatal(err)
	}
	var trips []uuid.UUID
	for day := 1; day < 300; day++ {
		found, err := service.SearchTrips(b.Context(), traintravel.TripQuery{Origin: berlin, Destination: paris, Depart: benchNow.AddDate(0, 0, day).Truncate(24 * time.Hour), Direct: true})
		if err != nil || len(found.Items) == 0 {
			b.Fatal(found, err)
		}
		trips = append(trips, found.Items[0].ID)
	}
	var hot atomic.Int64
	var ours, theirs []float64
	for b.Loop() {
		for round := range benchRounds + 1 {
			o := rate(b, pgCallers, 6400, func(i int) error {
				for {
					at := hot.Load()
					_, err := service.CreateBooking(b.Context(), caller(i), traintravel.NewBooking{TripID: trips[at], PassengerName: "Ada Lovelace"})
					if !errors.Is(err, traintravel.ErrSoldOut) {
						return err
					}
					hot.CompareAndSwap(at, at+1)
				}
			})
			t := rate(b, pgCallers, 640, func(i int) error { return hand.fourStatements(b.Context(), 7, i) })
			if round > 0 {
				ours, theirs = append(ours, o), append(theirs, t)
			}
		}
	}
	report(b, ours, theirs, "bookings/s", "of-four-statements")
}

// BenchmarkPostgresRead reads bookings and reports how that compares with a bare
// query of one row.
func BenchmarkPostgresRead(b *testing.B) {
	url := pgBenchURL(b)
	service, hand := pgService(b, url), newHandwritten(b, url)
	if _, err := service.LoadTimetable(b.Context(), officetest.DemoNetwork(b)); err != nil {
		b.Fatal(err)
	}
	var ids []uuid.UUID
	for _, trip := range spreadTrips(b, service, 1000) {
		bk, err := service.CreateBooking(b.Context(), caller(1), traintravel.NewBooking{TripID: trip, PassengerName: "Ada Lovelace"})
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, bk.ID)
	}
	for _, callers := range []int{1, pgCallers} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			var ours, theirs []float64
			for b.Loop() {
				for round := range benchRounds + 1 {
					const per = 10_000
					o := rate(b, callers, per, func(i int) error {
						_, err := service.Booking(b.Context(), caller(1), ids[i%len(ids)])
						return err
					})
					t := rate(b, callers, per, func(i int) error {
						var value []byte
						id := ids[i%len(ids)]
						return hand.pool.QueryRow(b.Context(), "select value from traintravel_bookings where id = $1", id[:]).Scan(&value)
					})
					if round > 0 {
						ours, theirs = append(ours, o), append(theirs, t)
					}
				}
			}
			report(b, ours, theirs, "reads/s", "of-bare")
		})
	}
}

// BenchmarkPostgresTwoServers books with one server and with two on the same
// database, each with its own callers. Far, there are 2 ms to the database and
// back, as between machines of one region, and the machine is not the limit.
func BenchmarkPostgresTwoServers(b *testing.B) {
	for _, far := range []time.Duration{0, time.Millisecond} {
		b.Run(fmt.Sprint("each-way=", far), func(b *testing.B) {
			server := pgtest.Start(b, "max_connections=300", "shared_buffers=512MB", "max_wal_size=4GB")
			database := server.NewDatabase(b)
			proxy := pgtest.NewProxy(b, server.Addr())
			if far > 0 {
				database = pgtest.Via(database, proxy.Addr())
			}
			url := database + fmt.Sprintf("&pool_max_conns=%d", pgCallers)
			services := []*traintravel.Service{pgService(b, url), pgService(b, url)}
			if _, err := services[0].LoadTimetable(b.Context(), officetest.DemoNetwork(b)); err != nil {
				b.Fatal(err)
			}
			trips := spreadTrips(b, services[0], 20_000)
			spreadTrips(b, services[1], 1) // it has the timetable
			proxy.Delay(far)
			var one, two []float64
			n := 0
			book := func(servers, per int) float64 {
				base := n
				n += per
				return rate(b, servers*pgCallers, per, func(i int) error {
					_, err := services[i%servers].CreateBooking(b.Context(), caller(base+i), traintravel.NewBooking{TripID: trips[(base+i)%len(trips)], PassengerName: "Ada Lovelace"})
					return err
				})
			}
			for b.Loop() {
				for round := range benchRounds + 1 {
					o, t := book(1, 6400), book(2, 6400)
					if round > 0 {
						one, two = append(one, o), append(two, t)
					}
				}
			}
			report(b, two, one, "bookings/s", "of-one-server")
		})
	}
}

// BenchmarkPostgresAtSize fills databases with bookings that were made before and
// reports how the rate on a large one compares with that on a small one. Sizes
// come from TRAINTRAVEL_BENCH_SIZES, two of them; the databases take turns.
func BenchmarkPostgresAtSize(b *testing.B) {
	sizes := strings.Split(cmp.Or(os.Getenv("TRAINTRAVEL_BENCH_SIZES"), "5000,20000"), ",")
	server := pgtest.Start(b, "max_connections=300", "shared_buffers=512MB", "max_wal_size=8GB")
	services := make([]*traintravel.Service, len(sizes))
	var trips []uuid.UUID
	for i, size := range sizes {
		url := server.NewDatabase(b) + fmt.Sprintf("&pool_max_conns=%d", pgCallers)
		services[i] = pgService(b, url)
		if _, err := services[i].LoadTimetable(b.Context(), officetest.DemoNetwork(b)); err != nil {
			b.Fatal(err)
		}
		trips = spreadTrips(b, services[i], 20_000)
		// Keys as the service makes them, older than any it makes now.
		pool := newHandwritten(b, url).pool
		for _, sql := range []string{
			"insert into traintravel_bookings select decode(lpad(to_hex(i), 16, '0') || md5(i::text), 'hex'), decode(repeat(md5(i::text), 18), 'hex') from generate_series(1, $1::bigint) i",
			"insert into traintravel_owned select decode('0000' || left(md5((i % 1000000)::text), 16) || lpad(to_hex(i), 14, '0'), 'hex'), '' from generate_series(1, $1::bigint) i",
		} {
			if _, err := pool.Exec(b.Context(), sql, size); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := pool.Exec(b.Context(), "vacuum analyze"); err != nil {
			b.Fatal(err)
		}
	}
	rates := make([][]float64, len(sizes))
	n := 0
	for b.Loop() {
		for round := range benchRounds + 1 {
			const per = 6400
			base := n
			n += per
			for i, s := range services {
				r := rate(b, pgCallers, per, func(k int) error {
					_, err := s.CreateBooking(b.Context(), caller(base+k), traintravel.NewBooking{TripID: trips[(base+k)%len(trips)], PassengerName: "Ada Lovelace"})
					return err
				})
				if round > 0 {
					rates[i] = append(rates[i], r)
				}
			}
		}
	}
	report(b, rates[len(sizes)-1], rates[0], "bookings/s", "of-the-small-one")
}
