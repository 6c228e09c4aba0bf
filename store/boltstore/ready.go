package boltstore

import (
	"context"
	"strconv"

	bolt "go.etcd.io/bbolt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/group"
)

// probeKey is in ownBucket: what Ready writes to see that writing is possible.
const probeKey = "probe"

// afterFailure is how many bytes Ready writes when the last commit has failed: more than
// an update takes, so that space for a few pages does not pass for an end of the trouble.
const afterFailure = 256 << 10

// Ready returns nil if an update would succeed now, and otherwise the reason: the file is not
// in its place (see [Store.InPlace]), or the disk does not accept writes. It goes by the last
// commit; if that was too long ago, or failed at least a second ago, Ready makes a small write
// itself.
func (s *Store) Ready(ctx context.Context) error {
	if err := s.InPlace(); err != nil {
		return err
	}
	if err := s.queue.Failed(); err != nil {
		return err
	}
	if old, _ := s.proof.get(); old && s.proof.asked.TryLock() {
		defer s.proof.asked.Unlock()
		if err := s.queue.Update(ctx, func(traintravel.Tx) error { return nil }, s.prove); err != nil {
			return err
		}
	}
	_, err := s.proof.get()
	return err
}

// prove leads a group of one call, which writes to ownBucket alone. Another leader that
// takes the call has it share a commit, or finds that there was nothing to commit.
func (s *Store) prove(own *group.Call) {
	g := batch{store: s, probe: true, calls: []*group.Call{own}, err: group.ErrGoexit}
	defer g.end()
	if g.tx, g.err = s.begin(); g.err == nil {
		g.commit()
	}
}

// probe writes what Ready has written.
func (s *Store) probe(tx *bolt.Tx) error {
	value := strconv.AppendInt(nil, int64(tx.ID()), 10)
	if _, err := s.proof.get(); err != nil {
		value = append(value, make([]byte, afterFailure)...)
	}
	return tx.Bucket([]byte(ownBucket)).Put([]byte(probeKey), value)
}
