package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/traintravel/traintravel"
)

// server is a listener and what serves it.
type server struct {
	listener net.Listener
	http     *http.Server
}

// How long stopping takes at most: requests under way may finish in drainFor, and
// what was cut off after that, and the background work, end in endFor.
const (
	drainFor = 8 * time.Second
	endFor   = time.Second
)

// runServers serves and runs the service until ctx ends or a listener fails.
// Requests are drained before the background work stops.
func (p *program) runServers(ctx context.Context, service *traintravel.Service, servers ...server) error {
	background, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		_ = service.Run(background) // ends with its context
	}()
	failed := make(chan error, len(servers))
	for _, s := range servers {
		s.http.BaseContext = func(net.Listener) context.Context { return background }
		go func() { failed <- s.http.Serve(s.listener) }()
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainFor)
	defer cancel()
	var all sync.WaitGroup
	for _, s := range servers {
		all.Go(func() { p.drain(drain, s) })
	}
	all.Wait()
	stop()
	select {
	case <-stopped:
	case <-time.After(endFor):
		err = errors.Join(err, errors.New("the background work did not end; what it was at is taken up at the next start"))
	}
	return err
}

// drain has a server take no more requests, and finish those under way. Those
// that are not finished when ctx ends are cut off: their clients may be as slow
// as they like, and must not hold up the operator.
func (p *program) drain(ctx context.Context, s server) {
	if err := s.http.Shutdown(ctx); err != nil {
		p.log.Warn("requests that were not finished in time are cut off", "listener", s.listener.Addr().String(), "after", drainFor)
		_ = s.http.Close()
	}
	_ = s.listener.Close()
}
