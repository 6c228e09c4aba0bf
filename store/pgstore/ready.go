package pgstore

import (
	"context"
	"fmt"
	"time"

	"github.com/traintravel/traintravel"
)

// readyFor is how long an answer of the database to Ready is good for.
const readyFor = time.Second

// Ready implements [traintravel.ReadyStore]: it returns nil if the database responds and
// accepts writes. While it does, Ready asks it about once a second.
func (s *Store) Ready(ctx context.Context) error {
	if s.closed.Load() {
		return ErrClosed
	}
	if at := s.ready.Load(); at != nil && time.Since(*at) < readyFor {
		return nil
	}
	var refuses bool
	err := s.retry(ctx, func(ctx context.Context) error {
		return s.pool.QueryRow(ctx, "select pg_is_in_recovery() or current_setting('default_transaction_read_only') = 'on'").Scan(&refuses)
	})
	if err == nil && refuses {
		err = fmt.Errorf("pgstore: %w: the database is read-only: it is a standby, or default_transaction_read_only is on", traintravel.ErrUnavailable)
	}
	if err == nil {
		now := time.Now()
		s.ready.Store(&now)
	}
	return err
}
