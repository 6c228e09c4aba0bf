package main

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
)

// suggest answers the script that completes names of stations.
func (s *site) suggest(w http.ResponseWriter, r *http.Request) {
	type suggestion struct {
		ID      string `json:"id"`
		Name    string `json:"name"`
		Address string `json:"address"`
	}
	answer := struct {
		Stations []suggestion `json:"stations"`
		Problem  string       `json:"problem,omitempty"`
	}{Stations: []suggestion{}}
	status := http.StatusOK
	if user := s.sessionOf(r); user == nil {
		answer.Problem = "Sign in to see stations as you type, or write the name and search."
	} else if words := strings.TrimSpace(r.URL.Query().Get("q")); words != "" {
		found, err := user.api.stations(r.Context(), words, 7)
		if err != nil {
			f := faultOf(err)
			status, answer.Problem = f.Status, f.Title+"."
		}
		user.remember(found.Data...)
		for _, st := range found.Data {
			answer.Stations = append(answer.Stations, suggestion{st.ID, st.Name, st.Address})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// A choice is asked of people when what they typed may be several stations.
type choice struct {
	Search  search
	Typed   string
	Purpose string // "start" or "destination"
	Options []option
}

type option struct {
	station
	Path string // of the search with this station
}

// find returns the stations that somebody may mean: one if it is clear.
func (s *session) find(ctx context.Context, typed, id string) ([]station, error) {
	if isID(id) { // unless the name was changed after it was chosen
		if st, err := s.station(ctx, id); err == nil && strings.EqualFold(st.Name, typed) {
			return []station{st}, nil
		}
	}
	found, err := s.api.stations(ctx, typed, 12)
	if err != nil {
		return nil, err
	}
	s.remember(found.Data...)
	var exact []station
	for _, st := range found.Data {
		if strings.EqualFold(st.Name, typed) {
			exact = append(exact, st)
		}
	}
	if len(exact) == 1 {
		return exact, nil
	}
	return found.Data, nil
}

var idForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// isID says whether a text has the form of the API's IDs. Nothing else becomes part of
// an address of the API.
func isID(s string) bool { return idForm.MatchString(s) }
