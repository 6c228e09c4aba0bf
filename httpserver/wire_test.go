package httpserver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Answers to many at once over real connections are whole, and each is the
// asker's own.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.trip().ID
	host := httptest.NewServer(w.server)
	defer host.Close()
	ask := func(method, url, user, text string) (int, string, error) {
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(text))
		if err != nil {
			return 0, "", err
		}
		req.Header.Set("Authorization", "Bearer "+user+"-rw")
		req.Header.Set("Content-Type", "application/json")
		resp, err := host.Client().Do(req)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		all, err := io.ReadAll(resp.Body)
		if err == nil && resp.ContentLength != int64(len(all)) && resp.StatusCode != 204 {
			t.Errorf("%s %s: Content-Length is %d, the body has %d", method, url, resp.ContentLength, len(all))
		}
		return resp.StatusCode, string(all), err
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			user := "user" + strconv.Itoa(i)
			for range 20 {
				status, made, err := ask("POST", host.URL+"/bookings", user, strings.Replace(newBooking(trip), "Anna", user, 1))
				if err != nil || status != 201 || !strings.Contains(made, user) {
					t.Errorf("%s books: %d %s %v", user, status, made, err)
					return
				}
				_, id, _ := strings.Cut(made, `{"id":"`)
				if status, one, err := ask("GET", host.URL+"/bookings/"+id[:36], user, ""); err != nil || status != 200 || one != made {
					t.Errorf("%s reads: %d %s %v, want %s", user, status, one, err, made)
				}
				if status, list, err := ask("GET", host.URL+"/bookings?limit=100", user, ""); err != nil || status != 200 ||
					strings.Count(list, `"passenger_name":"`+user+" ") != strings.Count(list, `"passenger_name":`) {
					t.Errorf("%s lists: %d %s %v", user, status, list, err)
				}
				if status, none, err := ask("GET", host.URL+"/nothing", user, ""); err != nil || status != 404 || !strings.Contains(none, "/problems/not-found") {
					t.Errorf("%s gets nothing: %d %s %v", user, status, none, err)
				}
			}
		})
	}
	wg.Wait()
}

// Sunset is a date as HTTP has it, whatever the instant.
func TestSunset(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trip := w.get(search + "&page=5&limit=1").collection().Data[0].ID
	for range 50 {
		a := w.post("/bookings", newBooking(trip)).want(201)
		now, err := http.ParseTime(a.header.Get("Sunset"))
		if want := morning.Add(time.Duration(w.clock.Load()) + time.Hour).Truncate(time.Second); err != nil || !now.Equal(want) {
			t.Fatalf("Sunset is %q, want %s", a.header.Get("Sunset"), want.Format(http.TimeFormat))
		}
		w.later(17*time.Minute + 13*time.Second + time.Millisecond)
	}
}
