package synthfeed

import (
	"math"
	"strings"
	"testing"
)

func TestCosines(t *testing.T) {
	t.Parallel()
	for d := int64(-360); d <= 720; d++ {
		want := int64(math.Round(math.Cos(float64(d)*math.Pi/180) * one))
		if got := cos(d * degree); got != want {
			t.Errorf("cos(%d) is %d, not %d", d, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	berlin, paris := newPoint(52.5251, 13.3694), newPoint(48.8809, 2.3553)
	if d := berlin.distance(paris); d < 870_000 || d > 890_000 {
		t.Errorf("from Berlin to Paris there are %d m", d)
	}
	for _, direction := range []int64{0, 77, 180, 301} {
		if d := berlin.distance(berlin.walk(5000, direction)); d < 4980 || d > 5020 {
			t.Errorf("a walk of 5000 m in direction %d leads %d m away", direction, d)
		}
	}
}

// Every hub is on the network, and its country has a zone.
func TestHubs(t *testing.T) {
	t.Parallel()
	if got := len(someHubs(1)); got != len(hubs) {
		t.Errorf("%d of %d hubs are linked", got, len(hubs))
	}
	names := map[string]bool{}
	for _, h := range hubs {
		if names[h.name] || zones[h.country] == "" || h.weight < 1 || h.weight > 3 || strings.ContainsAny(h.name, ",\"\n") {
			t.Errorf("%+v", h)
		}
		names[h.name] = true
	}
	for _, pair := range tracks {
		if !names[pair[0]] || !names[pair[1]] {
			t.Errorf("no hub has a name of %q", pair)
		}
	}
}
