package main

import (
	"encoding/json"
	"net/http"
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
	if words := strings.TrimSpace(r.URL.Query().Get("q")); words != "" {
		user := s.sessionOf(r)
		found, err := s.readerOf(user).search(r.Context(), words, 7)
		if err != nil {
			f := faultFor(user, err)
			status, answer.Problem = f.Status, f.Title+"."
		}
		for _, st := range found {
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
