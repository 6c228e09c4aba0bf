package boltstore

import (
	"sync"
	"time"
)

// How long what came of the last commit stands for the next one.
const (
	goodFor = 10 * time.Second
	badFor  = time.Second
)

// A proof is what came of the last commit.
type proof struct {
	mu    sync.Mutex
	at    time.Time // zero before the first
	err   error
	asked sync.Mutex // held by the one who tries to write
}

func (p *proof) set(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.at, p.err = time.Now(), err
}

// get returns what came of the last commit, and whether that was too long ago.
func (p *proof) get() (old bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	age := goodFor
	if p.err != nil {
		age = badFor
	}
	return p.at.IsZero() || time.Since(p.at) >= age, p.err
}
