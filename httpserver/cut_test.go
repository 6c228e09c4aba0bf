package httpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

// countingGateway counts the charges that were asked for, and takes its time.
type countingGateway struct {
	traintravel.PaymentGateway
	charges atomic.Int64
}

func (g *countingGateway) Charge(ctx context.Context, c traintravel.Charge) (traintravel.Outcome, error) {
	g.charges.Add(1)
	time.Sleep(time.Millisecond)
	return g.PaymentGateway.Charge(ctx, c)
}

// A cut is where a connection breaks: after so many bytes of the request, and,
// if that was all of it, of the answer.
type cut struct{ sent, got int }

// send sends a request on a connection of its own and breaks it.
func (c cut) send(t *testing.T, addr, request string) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.(*net.TCPConn).SetLinger(0); err != nil { // a reset, as a crash sends it
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, request[:c.sent]); err != nil {
		t.Fatal(err)
	}
	if c.got > 0 {
		_, _ = io.ReadFull(conn, make([]byte, c.got))
	}
}

// A client whose connection was cut at any byte repeats the request with its idempotency key: it
// books once and pays once.
func TestRetriesAfterCutConnections(t *testing.T) {
	t.Parallel()
	gateway := &countingGateway{PaymentGateway: sandbox.New()}
	w := newWorld(t, func(w *world) { w.service_.Gateway = gateway })
	trip := w.trip()
	host := httptest.NewServer(w.server)
	defer host.Close()
	addr := host.Listener.Addr().String()
	request := func(target, key, text string) string {
		return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer anna-rw\r\nContent-Type: application/json\r\n"+
			"Idempotency-Key: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", target, addr, key, len(text), text)
	}
	// again sends a request until it is answered with a success.
	again := func(request string) (status int, body string) {
		for {
			conn, err := net.Dial("tcp", addr)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			conn.Close()
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), `"status":"pending"`) { // it has reached the server, and is answered in a moment
				time.Sleep(time.Millisecond)
				continue
			}
			return resp.StatusCode, string(text)
		}
	}
	cuts := func(request string) (all []cut) {
		n, head := len(request), strings.Index(request, "\r\n\r\n")
		for _, sent := range []int{0, 1, head / 2, head, head + 4, head + 5, n - 1, n} {
			all = append(all, cut{sent, 0})
		}
		for _, got := range []int{1, 40, 600} {
			all = append(all, cut{n, got})
		}
		return all
	}
	n := 0
	for round := range 3 {
		for i := range cuts(request("/bookings", "k", "{}")) {
			n++
			name := fmt.Sprintf("Passenger %d", n)
			book := request("/bookings", fmt.Sprintf("book %d", n), strings.Replace(newBooking(trip.ID), "Anna Example", name, 1))
			cuts(book)[i].send(t, addr, book)
			status, made := again(book)
			if status != 201 || !strings.Contains(made, name) {
				t.Fatalf("round %d, %+v: the second booking was answered %d %s", round, cuts(book)[i], status, made)
			}
			_, id, _ := strings.Cut(made, `"id":"`)
			id = id[:36]

			before := gateway.charges.Load()
			pay := request("/bookings/"+id+"/payment", fmt.Sprintf("pay %d", n), payment(trip.Price, goodCard))
			cuts(pay)[i].send(t, addr, pay)
			if status, paid := again(pay); status != 200 || !strings.Contains(paid, `"status":"succeeded"`) {
				t.Fatalf("round %d, %+v: the second payment was answered %d %s", round, cuts(pay)[i], status, paid)
			}
			if got := gateway.charges.Load() - before; got != 1 {
				t.Errorf("round %d, %+v: charged %d times", round, cuts(pay)[i], got)
			}
			if all := w.get("/bookings/" + id + "/payments").collection().Data; len(all) != 1 {
				t.Errorf("round %d, %+v: there are %d payments", round, cuts(pay)[i], len(all))
			}
			if all := w.walk("/bookings?limit=100", func() {}); len(all) != n {
				t.Fatalf("round %d, %+v: %d bookings were asked for, %d are there", round, cuts(pay)[i], n, len(all))
			}
		}
	}
}
