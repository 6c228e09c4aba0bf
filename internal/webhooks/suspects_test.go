package webhooks_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/need"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/sandbox"
	"github.com/traintravel/traintravel/store/memstore"
)

// A dullroom is a mailroom of which some receivers do not answer.
type dullroom struct {
	*officetest.Mailroom
	mu    sync.Mutex
	awake bool                 // they answer after all
	waits map[string]int       // for receivers that do not answer: posts under way
	most  int                  // receivers that were waited for at a time
	came  map[string]time.Time // the latest post to a receiver that answers
}

func (d *dullroom) Send(ctx context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	d.mu.Lock()
	if d.awake || !strings.Contains(p.URL, "dull") {
		d.came[p.URL] = time.Now()
		d.mu.Unlock()
		return d.Mailroom.Send(ctx, p)
	}
	d.waits[p.URL]++
	d.most = max(d.most, len(d.waits))
	d.mu.Unlock()
	<-ctx.Done()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waits[p.URL]--; d.waits[p.URL] == 0 {
		delete(d.waits, p.URL)
	}
	return traintravel.WebhookAnswer{}, ctx.Err()
}

// Hundreds of endpoints that do not answer keep others waiting for a second when they
// begin to, and never after; what they lack comes when they answer again.
func TestManyEndpointsHang(t *testing.T) {
	t.Parallel()
	need.Short(t, "hundreds of endpoints")
	synctest.Test(t, func(t *testing.T) {
		const dull, quick = 400, 20
		m := &dullroom{
			Mailroom: &officetest.Mailroom{Answers: map[string]func(int) (traintravel.WebhookAnswer, error){}},
			waits:    map[string]int{}, came: map[string]time.Time{},
		}
		o := &officetest.Office{T: t, Store: memstore.New(), Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
		o = o.Another(func(opts *traintravel.Options) {
			opts.Now, opts.Webhooks = nil, &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), PerHost: 1000}
		})
		o.Load(officetest.InBubbles())
		user := func(what string, i int) traintravel.Caller {
			return traintravel.Caller{Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer, ID: fmt.Sprint(what, i)}}
		}
		book := func(what string, n int) {
			for i := range n {
				o.Book(user(what, i), o.Unreserved())
			}
		}
		for i := range dull {
			o.MustSubscribe(user("dull", i), fmt.Sprint("https://dull.example/", i))
		}
		for i := range quick {
			o.MustSubscribe(user("quick", i), fmt.Sprint("https://quick.example/", i))
		}
		arrived := func(since time.Time) (n int) {
			m.mu.Lock()
			defer m.mu.Unlock()
			for _, at := range m.came {
				if !at.Before(since) {
					n++
				}
			}
			return n
		}
		defer o.Start()()

		begun := time.Now()
		for range 3 {
			book("dull", dull)
		}
		synctest.Wait()
		if m.most < 256 {
			t.Errorf("%d are waited for before they are suspected", m.most)
		}
		book("quick", quick)
		time.Sleep(2 * time.Second)
		if n := arrived(begun); n != quick {
			t.Errorf("%d of %d events arrived beside endpoints that begin to hang", n, quick)
		}
		time.Sleep(time.Minute)
		m.mu.Lock()
		m.most = 0
		m.mu.Unlock()
		for range 3 {
			time.Sleep(7 * time.Second)
			book("dull", dull)
			begun = time.Now()
			book("quick", quick)
			synctest.Wait()
			if n := arrived(begun); n != quick || !begun.Equal(time.Now()) {
				t.Errorf("%d of %d events arrived at once beside endpoints that hang", n, quick)
			}
		}
		m.mu.Lock()
		if m.most == 0 || m.most > 64 {
			t.Errorf("%d were waited for at a time", m.most)
		}
		m.awake = true
		m.mu.Unlock()
		time.Sleep(24 * time.Hour)
		begun = time.Now()
		book("dull", dull)
		time.Sleep(time.Second / 10)
		synctest.Wait()
		if n := arrived(begun); n != dull {
			t.Errorf("%d of %d events arrived soon at endpoints that answer again", n, dull)
		}
		if books := o.Audit(); books.Deliveries != 0 {
			t.Errorf("%d deliveries wait", books.Deliveries)
		}
	})
}

// RunDue comes to each endpoint of many that do not answer, and again when they do.
func TestRunDueBesideEndpointsThatHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const dull = 80
		m := &dullroom{
			Mailroom: &officetest.Mailroom{Answers: map[string]func(int) (traintravel.WebhookAnswer, error){}},
			waits:    map[string]int{}, came: map[string]time.Time{},
		}
		o := &officetest.Office{T: t, Store: memstore.New(), Bank: &officetest.Bank{Gateway: sandbox.New()}, Post: &officetest.Post{}}
		o = o.Another(func(opts *traintravel.Options) {
			opts.Now, opts.Webhooks = nil, &traintravel.WebhookOptions{Sender: m, SealKey: make([]byte, 32), PerHost: 1000}
		})
		o.Load(officetest.InBubbles())
		for i := range dull {
			by := traintravel.Caller{Subject: traintravel.Subject{Issuer: officetest.Anna.Issuer, ID: fmt.Sprint(i)}}
			o.MustSubscribe(by, fmt.Sprint("https://dull.example/", i))
			o.Book(by, o.Unreserved())
		}
		o.Do()
		m.awake = true
		for range 10 {
			time.Sleep(time.Hour)
			o.Do()
		}
		if n := len(m.came); n != dull {
			t.Errorf("%d of %d endpoints were told when they answered again", n, dull)
		}
	})
}
