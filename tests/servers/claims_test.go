package servers_test

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
)

// A payment whose booking ends while the gateway is asked about it is not asked about
// twice at a time: it is called off as soon as the gateway has answered.
func TestOneServerAtATimeProcessesAPayment(t *testing.T) {
	inBubble(t, func(t *testing.T, o *officetest.Office) {
		var mu sync.Mutex
		asking := map[uuid.UUID]int{}
		called := map[string]int{}
		slow := true
		o.Bank.Before = func(op string, id uuid.UUID) error {
			mu.Lock()
			asking[id]++
			called[op]++
			if asking[id] > 1 {
				t.Errorf("the gateway is asked %d things about a payment at a time, the last is %s", asking[id], op)
			}
			wait := slow && op == "lookup"
			mu.Unlock()
			if wait {
				time.Sleep(20 * time.Second)
			}
			mu.Lock()
			defer mu.Unlock()
			asking[id]--
			if slow {
				return errors.New("the line is busy")
			}
			return nil
		}
		b := o.Book(officetest.Anna, o.Unreserved())
		o.MustPay(b, traintravel.Pending)
		defer o.Start()()
		time.Sleep(45 * time.Second) // it is being looked up
		if _, err := o.CancelRun(t.Context(), b.Legs[0].Run, traintravel.CancelRunOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		mu.Lock()
		if called["lookup"] == 0 || called["cancel"] != 0 {
			t.Errorf("the gateway was asked %v", called)
		}
		slow = false
		mu.Unlock()
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if called["cancel"] != 1 {
			t.Errorf("when the first answer is there, the gateway was asked %v", called)
		}
	})
}
