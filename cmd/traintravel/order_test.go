package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/store/memstore"
)

// A heldSender posts when it is told to.
type heldSender struct{ begun, end chan struct{} }

func (heldSender) CheckURL(string) error { return nil }

func (s heldSender) Send(ctx context.Context, _ traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	close(s.begun)
	select {
	case <-s.end:
		return traintravel.WebhookAnswer{Status: 200}, nil
	case <-ctx.Done():
		return traintravel.WebhookAnswer{}, ctx.Err()
	}
}

// A server shuts down in order: it becomes unready, finishes the requests in progress, then the
// deliveries, and returns so that the store can be closed.
func TestEndsInOrder(t *testing.T) {
	t.Parallel()
	p := newProgram(t.Output())
	told := make(chan string, 2)
	p.notify = func(state string) { told <- state }
	held := heldSender{make(chan struct{}), make(chan struct{})}
	service, err := traintravel.New(memstore.New(), traintravel.Options{
		Webhooks: &traintravel.WebhookOptions{Sender: lingering{held, p.waits.deliver}, SealKey: make([]byte, 32)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := loadDemo(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	l, err := listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	api, err := httpserver.New(service, httpserver.Options{BaseURL: "http://" + l.Addr().String(), Auth: anybody{}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.runServers(ctx, service, api, server{l, p.httpServer(api)}) }()
	says := func(want string) {
		t.Helper()
		if got := <-told; got != want {
			t.Fatalf("it says %s, want %s", got, want)
		}
	}
	still := func() {
		t.Helper()
		select {
		case err := <-ended:
			t.Fatalf("it has ended: %v", err)
		default:
		}
	}
	says("READY=1")

	// A delivery is under way, a request, and a connection.
	id, err := anybody{}.Authenticate(ctx, "anna")
	if err != nil {
		t.Fatal(err)
	}
	hook, _, err := service.Subscribe(ctx, id.Caller, traintravel.NewSubscription{URL: "https://receiver.example"})
	if err != nil {
		t.Fatal(err)
	}
	<-held.begun // with the ping that verifies it
	dial := func() (net.Conn, *bufio.Reader) {
		t.Helper()
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		return conn, bufio.NewReader(conn)
	}
	answer := func(r *bufio.Reader, status int, closes bool) {
		t.Helper()
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != status || resp.Close != closes {
			t.Fatalf("%s, closes %t, %v, want %d, %t", resp.Status, resp.Close, err, status, closes)
		}
	}
	kept, fromKept := dial()
	const ready = "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n"
	fmt.Fprint(kept, ready)
	answer(fromKept, 200, false)
	slow, fromSlow := dial()
	fmt.Fprint(slow, "POST /bookings HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer anna\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n")
	if line, err := fromSlow.ReadString('\n'); err != nil || line != "HTTP/1.1 100 Continue\r\n" { // its handler waits for the body
		t.Fatal(line, err)
	}
	if _, err := fromSlow.ReadString('\n'); err != nil {
		t.Fatal(err)
	}

	stop()
	says("STOPPING=1")
	for { // until it is not ready, which is a moment after it says so
		other, fromOther := dial()
		fmt.Fprint(other, ready)
		resp, err := http.ReadResponse(fromOther, nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode == 503 && resp.Close {
			break
		}
		other.Close()
		time.Sleep(time.Millisecond)
	}
	fmt.Fprint(kept, ready)
	answer(fromKept, 503, true)
	still()
	fmt.Fprint(slow, "{}")
	answer(fromSlow, 400, true)
	still()
	for { // no connection is left, and so none is taken any more
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			break
		}
		conn.Close()
		time.Sleep(time.Millisecond)
	}
	still()
	if list, err := service.Deliveries(t.Context(), id.Caller, hook.ID, traintravel.Page{}); err != nil || list.Items[0].Status != traintravel.DeliveryPending {
		t.Errorf("%v %v", list, err)
	}
	close(held.end)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if list, err := service.Deliveries(t.Context(), id.Caller, hook.ID, traintravel.Page{}); err != nil || list.Items[0].Status != traintravel.DeliveryDelivered || list.Items[0].Attempts != 1 {
		t.Errorf("%v %v", list, err)
	}
}

// silentSender sends until its time is over, and says what ended that.
type silentSender struct{ heldSender }

func (silentSender) Send(ctx context.Context, _ traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	<-ctx.Done()
	return traintravel.WebhookAnswer{}, ctx.Err()
}

// A receiver that takes too long is reported as such, not as a cancelled post.
func TestLateReceiverIsReported(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	if _, err := (lingering{silentSender{}, time.Hour}).Send(ctx, traintravel.WebhookPost{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
