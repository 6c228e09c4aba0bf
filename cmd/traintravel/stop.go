package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// server is a listener and what serves it.
type server struct {
	listener net.Listener
	http     *http.Server
}

// serve serves until the server is shut down.
func (s server) serve() error {
	if s.http.TLSConfig != nil {
		return s.http.ServeTLS(s.listener, "", "")
	}
	return s.http.Serve(s.listener)
}

// runServers serves and runs the service until ctx ends or a listener fails. The first server
// is the API's. It shuts down in this order: the API reports that it is not ready, and asks
// clients to close their connections; it accepts no connections; it finishes the requests in
// progress, then the webhook deliveries in progress. The caller closes the store.
//
// [http.Server.Shutdown] alone drops requests: it closes a connection whose first
// request comes just then, and what is idle for as long as a request takes to arrive.
func (p *program) runServers(ctx context.Context, service *traintravel.Service, api *httpserver.Server, servers ...server) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = service.Run(background) // ends with its context
	}()
	open := connections{states: map[net.Conn]http.ConnState{}}
	servers[0].http.ConnState = open.note
	failed := make(chan error, len(servers))
	var ended sync.WaitGroup
	ended.Add(len(servers))
	for _, s := range servers {
		s.http.BaseContext = func(net.Listener) context.Context { return background }
		go func() {
			defer ended.Done()
			failed <- s.serve()
		}()
	}
	p.notify(daemon.SdNotifyReady)
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	p.notify(daemon.SdNotifyStopping)
	api.Leave()
	open.wait(p.waits.leave, http.StateNew, http.StateActive, http.StateIdle)
	for _, s := range servers {
		_ = s.listener.Close()
	}
	ended.Wait()
	open.wait(p.waits.leave, http.StateNew, http.StateActive)
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.waits.drain)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() { p.drain(drain, s) })
	}
	all.Wait()
	stop()
	select {
	case <-stopped:
	case <-time.After(p.waits.deliver + p.waits.end):
		err = errors.Join(err, errors.New("background work did not stop in time; the next start resumes it"))
	}
	return err
}

// drain waits until a server has finished the requests in progress. When ctx ends it closes
// the connections of the others: slow clients must not hold up the operator.
func (p *program) drain(ctx context.Context, s server) {
	if err := s.http.Shutdown(ctx); err != nil {
		p.log.Warn("requests still in progress after the shutdown timeout; closing their connections", "listener", s.listener.Addr().String(), "after", p.waits.drain)
		_ = s.http.Close()
	}
}

// connections are the open connections and their states.
type connections struct {
	mu     sync.Mutex
	states map[net.Conn]http.ConnState
}

// note is an [http.Server]'s ConnState.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if state == http.StateClosed || state == http.StateHijacked {
		delete(c.states, conn)
		return
	}
	c.states[conn] = state
}

// any says whether one is in one of these states.
func (c *connections) any(states []http.ConnState) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, state := range c.states {
		if slices.Contains(states, state) {
			return true
		}
	}
	return false
}

// wait waits until none is in one of these states, and no longer than that.
func (c *connections) wait(longest time.Duration, states ...http.ConnState) {
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for end := time.After(longest); c.any(states); {
		select {
		case <-look.C:
		case <-end:
			return
		}
	}
}

// lingering lets posts in progress finish when the server stops. Otherwise their receivers
// would get the event again.
type lingering struct {
	traintravel.WebhookSender
	longest time.Duration
}

func (l lingering) Send(ctx context.Context, p traintravel.WebhookPost) (traintravel.WebhookAnswer, error) {
	if ctx.Err() != nil {
		return traintravel.WebhookAnswer{}, ctx.Err()
	}
	post, cancel := context.WithCancel(context.WithoutCancel(ctx))
	if at, ok := ctx.Deadline(); ok {
		post, cancel = context.WithDeadline(context.WithoutCancel(ctx), at)
	}
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(l.longest, cancel) })
	defer stop()
	return l.WebhookSender.Send(post, p)
}
