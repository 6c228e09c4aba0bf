package search_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/traintravel/traintravel"
)

func TestParseDeparture(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, want string }{
		{"2024-02-01T09:00:00Z", "2024-02-01T09:00:00Z"},
		{"2024-02-01T09:00:00.000Z", "2024-02-01T09:00:00Z"},
		{"2024-02-01t09:00:00.123456789z", "2024-02-01T09:00:00.123456789Z"},
		{"2024-02-01T09:00:00+01:00", "2024-02-01T08:00:00Z"},
		{"2024-02-01T09:00:00 01:00", "2024-02-01T08:00:00Z"}, // an unescaped plus
		{"2024-02-01T09:00:00-05:00", "2024-02-01T14:00:00Z"},
		{"2024-02-01T09:00:00", "2024-02-01T08:00:00Z"},
		{"2024-02-01T09:00:00.5", "2024-02-01T08:00:00.5Z"},
		{"2024-02-01T09:00", "2024-02-01T08:00:00Z"},
		{"2024-07-01", "2024-06-30T22:00:00Z"},
		{" 2024-02-01 ", "2024-01-31T23:00:00Z"},
		{"2021-03-28T02:30:00", "2021-03-28T01:30:00Z"}, // skipped: 03:30 summer time
		{"2021-03-28T01:59:59", "2021-03-28T00:59:59Z"},
		{"2021-03-28T03:00:00", "2021-03-28T01:00:00Z"},
		{"2021-10-31T02:30:00", "2021-10-31T00:30:00Z"}, // twice: the earlier
		{"2021-10-31T03:00:00", "2021-10-31T02:00:00Z"},
		{"2021-10-31T01:59:59", "2021-10-30T23:59:59Z"},
	} {
		got, err := traintravel.ParseDeparture(c.text, berlin)
		if err != nil || got.UTC().Format(time.RFC3339Nano) != c.want {
			t.Errorf("%q: got %v, %v, want %s", c.text, got.UTC().Format(time.RFC3339Nano), err, c.want)
		}
	}
	for _, text := range []string{"0001-01-01", "1899-12-31T23:59", "2200-01-01", "9999-12-31", "9999-12-31T00:00:00Z", "9999-12-31T00:00:00"} {
		var e *traintravel.InvalidError
		got, err := traintravel.ParseDeparture(text, berlin)
		if !errors.As(err, &e) || e.Field != "date" || !strings.Contains(e.Reason, "1900 to 2199") || !got.IsZero() {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{
		"", "tomorrow", "2024-02-30", "2024-02-01T25:00:00Z", "2024-02-01T09:00:00+25:00", "2024-02-01T09:00:00-24:00",
		"20240201", "2024-02-01T", "2024-02-01T09:00:00Zx", "1706778000",
	} {
		var e *traintravel.InvalidError
		if got, err := traintravel.ParseDeparture(text, berlin); !errors.As(err, &e) || e.Field != "date" || !strings.Contains(e.Reason, "want a form") {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}
