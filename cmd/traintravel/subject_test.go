package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A passenger's data is exported, and then erased.
func TestSubjectCommands(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "trains.db")
	r := start(t, "serve", "--data", data, "--retain", "8760h")
	_, token, _ := once(t, nil, "token", "--user", "anna", "--data", data)
	token = strings.TrimSpace(token)
	day := time.Now().AddDate(0, 0, 2).Format(time.DateOnly)
	kept, over := r.book(token, day, ""), r.book(token, day, "")
	r.call(token, "DELETE", "/bookings/"+over, "", 204)
	for _, while := range []string{"served", "stopped"} {
		code, out, errs := once(t, nil, "subject", "export", "anna", "--data", data)
		var got struct {
			Issuer, Subject string
			Bookings        []struct {
				ID        string
				Name      string `json:"passenger_name"`
				Status    string
				Confirmed time.Time `json:"confirmed_at"`
				Changed   time.Time `json:"changed_at"`
				Payments  []struct {
					Settled time.Time `json:"settled_at"`
					Source  *struct{ Number string }
				}
			}
		}
		if err := json.Unmarshal([]byte(out), &got); code != 0 || err != nil || got.Issuer != "builtin" || got.Subject != "anna" {
			t.Fatal(code, err, out, errs)
		}
		want := 2
		if while == "stopped" {
			want = 1 // the other was erased
		}
		if len(got.Bookings) != want || got.Bookings[0].Name != "John Doe" || got.Bookings[0].Payments[0].Source.Number != "************4242" ||
			got.Bookings[0].Confirmed.IsZero() || got.Bookings[0].Changed.IsZero() || got.Bookings[0].Payments[0].Settled.IsZero() {
			t.Errorf("%s: %s", while, out)
		}
		code, out, errs = once(t, nil, "subject", "erase", "anna", "--data", data)
		if code != 0 || !strings.Contains(out, kept) || strings.Contains(out, over) || strings.HasPrefix(out, "1 booking erased") != (while == "served") {
			t.Errorf("%s: %d, %s%s", while, code, out, errs)
		}
		r.stop()
	}
	if code, out, errs := once(t, nil, "booking", over, "--data", data); code != 0 || !strings.Contains(out, over+": passenger (name erased), price ") || strings.Contains(out, `""`) {
		t.Error(code, out, errs)
	}
	if code, _, errs := once(t, nil, "subject", "erase", "", "--data", data); code != 2 {
		t.Error(code, errs)
	}
	if code, out, errs := once(t, nil, "subject", "export", "anna", "--issuer", "https://id.example", "--data", data); code != 1 || out != "" || !strings.Contains(errs, `"anna" of the issuer "https://id.example"`) {
		t.Error(code, out, errs)
	}
	if code, out, errs := once(t, nil, "subject", "erase", "Anna", "--data", data); code != 1 || out != "" || !strings.Contains(errs, `"Anna" of the issuer "builtin"`) {
		t.Error(code, out, errs)
	}
	if code, _, errs := once(t, nil, "serve", "--data", data, "--retain", "5m"); code != 2 || !strings.Contains(errs, "--retain") {
		t.Error(code, errs)
	}
}
