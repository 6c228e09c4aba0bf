package servers_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/internal/pgtest"
	"github.com/traintravel/traintravel/sandbox"
)

// A watched mailroom is one of which the onlooker sees what a server posts.
type watched struct {
	*officetest.Mailroom
	m **machine
}

func (w watched) Send(ctx context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	m, id := *w.m, uuid.NewSHA1(p.Event.ID, []byte(p.URL))
	defer m.onlooker.begin(m.name, id)()
	if err := m.work(ctx, id); err != nil {
		return traintravel.WebhookAnswer{}, err
	}
	return w.Mailroom.Send(ctx, p)
}

// posting has a machine, which the pointer will lead to, post to subscribers and to the
// operator, who wants to hear of everything.
func posting(mail *officetest.Mailroom, m **machine) func(*traintravel.Options) {
	return func(opts *traintravel.Options) {
		opts.Webhooks = &traintravel.WebhookOptions{Sender: watched{mail, m}, SealKey: make([]byte, 32), PerHost: 1000, Operator: []traintravel.OperatorWebhook{
			{URL: officetest.OperatorsHook, Secrets: []traintravel.Secret{officetest.Operators}, Events: traintravel.EventTypes()},
		}}
	}
}

// Servers that are well post each event once to each subscriber, and each does its part.
// What one has in its hands when it dies is posted by the others, and nothing else again.
func TestServersPost(t *testing.T) {
	onSharedStore(t, func(t *testing.T, o *officetest.Office, w *onlooker) {
		mail := &officetest.Mailroom{}
		var servers [3]*machine
		var deaf atomic.Bool // the first one hears no answer, whatever it is told
		for i := range servers {
			m := newMachine(o, w, fmt.Sprint("server ", i), posting(mail, &servers[i]), func(opts *traintravel.Options) { opts.Notifier = nil })
			work := m.work
			m.work = func(ctx context.Context, id uuid.UUID) error {
				if i == 0 && deaf.Load() {
					ctx = context.WithoutCancel(ctx)
				}
				return work(ctx, id)
			}
			servers[i] = m
			m.start()
		}
		time.Sleep(5 * time.Second)
		const hooks, each = 30, 20
		for i := range hooks {
			servers[i%3].MustSubscribe(officetest.Anna, fmt.Sprint(officetest.Hook, i))
		}
		sell := func(at ...*machine) {
			for i := range each {
				at[i%len(at)].Book(officetest.Anna, o.Unreserved())
			}
		}
		sell(servers[:]...)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		const posts = (hooks + 1) * each // with the operator's
		if n := mail.Count(); n != posts || mail.Twice() > 0 {
			t.Errorf("%d posts, %d of them again; want %d", n, mail.Twice(), posts)
		}
		for _, m := range servers {
			if n := w.did[m.name]; n < posts/20 { // which part an endpoint is in is chance
				t.Errorf("%s made %d of %d posts", m.name, n, posts)
			}
		}

		dying := servers[0]
		deaf.Store(true)
		sell(servers[1:]...)
		hands := 0
		for tries := 0; hands == 0 && tries < 400; tries++ {
			time.Sleep(5 * time.Millisecond)
			synctest.Wait()
			hands = w.hands(dying.name)
		}
		dying.wire.set(func() { dying.wire.dead = true })
		dying.kill()
		died := time.Now()
		for mail.Count() < 2*posts {
			if time.Sleep(100 * time.Millisecond); time.Since(died) > time.Minute {
				break
			}
		}
		if took := time.Since(died); hands == 0 || took < 9*time.Second || took > 15*time.Second {
			t.Errorf("it had %d posts in its hands, and all are made %v after its death", hands, took)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := mail.Twice(); n > hands || mail.Count() != 2*posts+n {
			t.Errorf("%d posts, %d of them again; the dead one had %d in its hands", mail.Count(), n, hands)
		}
		for _, m := range servers[1:] {
			m.stop()
		}
		<-dying.ended
		if books := o.Audit(); books.Deliveries != 0 {
			t.Errorf("%d deliveries wait", books.Deliveries)
		}
	})
}

// Three servers on one PostgreSQL database post each event once, while all are well.
func TestServersPostOnPostgres(t *testing.T) {
	t.Parallel()
	database := pgtest.Shared(t).NewDatabase(t)
	o := &officetest.Office{T: t, Store: officetest.OpenPostgres(t, database), Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
	o = o.Another(func(opts *traintravel.Options) { opts.Now = func() time.Time { return officetest.Opens } })
	o.Load(officetest.Network())
	mail, w := &officetest.Mailroom{}, newOnlooker(t)
	began := time.Now()
	var servers [3]*machine
	for i := range servers {
		servers[i] = machineOn(o, officetest.OpenPostgres(t, database), w, fmt.Sprint("server ", i), posting(mail, &servers[i]), func(opts *traintravel.Options) {
			opts.Now = func() time.Time { return officetest.Opens.Add(time.Since(began)) }
		})
	}
	const hooks, events = 12, 30
	for i := range hooks {
		servers[i%3].MustSubscribe(officetest.Anna, fmt.Sprint(officetest.Hook, i))
	}
	for _, m := range servers { // now that nobody is asked any more to prove that a URL is theirs
		m.start()
	}
	for i := range events {
		servers[i%3].Book(officetest.Anna, o.TripID('F', 'G', "S 3"))
		time.Sleep(50 * time.Millisecond) // while they share out the work
	}
	for began := time.Now(); o.Audit().Deliveries > 0 || mail.Count() < (hooks+1)*events; {
		if time.Sleep(100 * time.Millisecond); time.Since(began) > time.Minute {
			break
		}
	}
	for _, m := range servers {
		m.stop()
	}
	if n := mail.Count(); n != (hooks+1)*events || mail.Twice() > 0 {
		t.Errorf("%d posts, %d of them again; want %d", n, mail.Twice(), (hooks+1)*events)
	}
	t.Logf("what each did: %v", w.did)
}
