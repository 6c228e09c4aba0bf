package need

import (
	"flag"
	"os"
	"strconv"
	"testing"
)

// waiting is how many tests run at the same time in packages whose tests wait more than
// they compute.
const waiting = 6

// all says whether everything must run, at full length.
func all() bool { return os.Getenv("TRAINTRAVEL_REQUIRE_ALL") == "1" }

// Short skips a test with -short, also where everything must run. What names that which
// takes long, as in "other processes".
func Short(t testing.TB, what string) {
	t.Helper()
	if testing.Short() {
		t.Skipf("-short leaves out tests of %s", what)
	}
}

// All skips a test that takes too long to run each time, unless everything must run. What
// names that which takes long.
func All(t testing.TB, what string) {
	t.Helper()
	Short(t, what)
	if !all() {
		t.Skipf("set TRAINTRAVEL_REQUIRE_ALL=1 to run tests of %s, which take long", what)
	}
}

// Sample returns how much a test does: full where everything must run, and else quick.
func Sample[T any](quick, full T) T {
	if all() {
		return full
	}
	return quick
}

// Main runs the tests of a package whose tests wait more than they compute: several at
// the same time, however few processors there are. The flag -parallel prevails.
func Main(m *testing.M) int {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(waiting)); err != nil {
			panic(err)
		}
	}
	return m.Run()
}

// Stride returns how far to go from one thing that a test tries to the next, if it could
// try each: 1 where everything must run, else quick, and three times that with -short.
func Stride(quick int) int {
	quick = Sample(quick, 1)
	if testing.Short() {
		quick *= 3
	}
	return quick
}
