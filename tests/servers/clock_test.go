package servers_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/officetest"
	"github.com/traintravel/traintravel/store/memstore"
)

// A supplied clock is recorded while the service runs and when it stops, so
// that the next one does not begin before it.
func TestLastInstant(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		last, err := traintravel.LastInstant(t.Context(), store)
		if err != nil || !last.IsZero() {
			t.Fatalf("an empty store knows of %v, %v", last, err)
		}
		begin, started := time.Date(2024, 2, 1, 8, 0, 0, 0, time.UTC), time.Now()
		now := func() time.Time { return begin.Add(time.Since(started)) }
		service, err := traintravel.New(store, traintravel.Options{Now: now})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan error)
		go func() { stopped <- service.Run(ctx) }()
		for _, after := range []time.Duration{time.Minute + time.Second, time.Hour} {
			time.Sleep(after)
			synctest.Wait()
			if last, err = traintravel.LastInstant(t.Context(), store); err != nil || now().Sub(last) > time.Minute || last.After(now()) {
				t.Errorf("at %v the store knows of %v, %v", now(), last, err)
			}
		}
		time.Sleep(10 * time.Second)
		stop()
		<-stopped
		if last, err = traintravel.LastInstant(t.Context(), store); err != nil || !last.Equal(now()) {
			t.Errorf("stopped at %v the store knows of %v, %v", now(), last, err)
		}
	})
}

// TestLastInstantOfServices that disagree is the latest of all.
func TestLastInstantOfServices(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		store := memstore.New()
		begin := time.Now()
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		for _, ahead := range []time.Duration{time.Hour, 0} {
			now := func() time.Time { return time.Now().Add(ahead) }
			service, err := traintravel.New(store, traintravel.Options{Now: now})
			if err != nil {
				t.Fatal(err)
			}
			running.Go(func() { _ = service.Run(ctx) }) // ends with its context
			time.Sleep(time.Second)
		}
		time.Sleep(10 * time.Minute)
		stop()
		running.Wait()
		if last, err := traintravel.LastInstant(t.Context(), store); err != nil || !last.Equal(time.Now().Add(time.Hour)) {
			t.Errorf("after %v the store knows of %v, %v", time.Since(begin), last, err)
		}
	})
}

// What one service has recorded when it stopped, another finds, whatever the store.
func TestLastInstantOnEveryStore(t *testing.T) {
	officetest.OnSharedStores(t, 2, func(t *testing.T, stores []traintravel.Store) {
		o := officetest.New(t, stores[0])
		o.Clock.Add(42 * time.Second)
		ctx, stop := context.WithCancel(t.Context())
		stopped := make(chan error)
		go func() { stopped <- o.Run(ctx) }()
		stop()
		<-stopped
		if last, err := traintravel.LastInstant(t.Context(), stores[1]); err != nil || !last.Equal(o.Clock.Now()) {
			t.Errorf("stopped at %v the store knows of %v, %v", o.Clock.Now(), last, err)
		}
	})
}
