package boltstore_test

import (
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/storetest"
)

func openAny(t testing.TB) traintravel.Store { return open(t) }

func TestContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, openAny)
}

func TestConcurrency(t *testing.T) {
	t.Parallel()
	storetest.RunConcurrency(t, openAny)
}
