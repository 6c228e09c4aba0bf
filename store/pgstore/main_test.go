package pgstore_test

import (
	"os"
	"testing"

	"github.com/traintravel/traintravel/internal/need"
)

func TestMain(m *testing.M) { os.Exit(need.Main(m)) }
