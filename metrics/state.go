package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/traintravel/traintravel"
)

// stateWithin is how long the service may take to say how things stand.
const stateWithin = 10 * time.Second

// Watch adds metrics of how things stand with a service, which is asked at each scrape.
// It is called once.
func (m *Metrics) Watch(service *traintravel.Service) {
	gauge := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("traintravel_"+name, help, labels, nil)
	}
	m.registry.MustRegister(&state{
		service:  service,
		up:       gauge("state_up", "Whether the store could be read at this scrape: without it the other gauges are missing."),
		stations: gauge("timetable_stations", "Stations of the timetable in force."),
		trains:   gauge("timetable_trains", "Trains of the timetable in force."),
		loaded:   gauge("timetable_loaded_timestamp_seconds", "When the timetable in force was loaded."),
		ends:     gauge("timetable_ends_timestamp_seconds", "The end, in UTC, of the last date on which a train of it runs."),
		holds:    gauge("holds_open", "Bookings that wait for their payment, of up to 100,000."),
		waiting:  gauge("pending", "What waits, of up to 100,000: payments whose outcome is not known, refunds to be made, events to be told, deliveries to be posted.", "what"),
		unread:   gauge("state_unreadable_records", "Payments, refunds and events that wait and cannot be read."),
		stuck:    gauge("payments_stuck", "Payments and refunds that have been pending for a day.", "what"),
		oldest:   gauge("pending_oldest_seconds", "How long the oldest of what waits has waited; zero if nothing waits.", "what"),
	})
}

// state collects what a service says.
type state struct {
	service *traintravel.Service

	up, stations, trains, loaded, ends, holds, waiting, oldest, stuck, unread *prometheus.Desc
}

// Describe implements [prometheus.Collector].
func (s *state) Describe(to chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{s.up, s.stations, s.trains, s.loaded, s.ends, s.holds, s.waiting, s.oldest, s.stuck, s.unread} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (s *state) Collect(to chan<- prometheus.Metric) {
	send := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	ctx, stop := context.WithTimeout(context.Background(), stateWithin)
	defer stop()
	st, err := s.service.State(ctx)
	if err != nil {
		send(s.up, 0)
		return
	}
	send(s.up, 1)
	tt := st.Timetable
	send(s.stations, float64(tt.Stations))
	send(s.trains, float64(tt.Trains))
	if !tt.Loaded.IsZero() {
		send(s.loaded, float64(tt.Loaded.UnixMilli())/1e3)
		send(s.ends, float64((tt.Last + 1).Start(time.UTC).Unix()))
	}
	send(s.holds, float64(st.Holds))
	send(s.unread, float64(st.Unreadable))
	send(s.stuck, float64(st.StuckPayments), "payments")
	send(s.stuck, float64(st.StuckRefunds), "refunds")
	for _, w := range [...]struct {
		what string
		traintravel.Waiting
	}{{"payments", st.Payments}, {"refunds", st.Refunds}, {"events", st.Events}, {"deliveries", st.Deliveries}} {
		send(s.waiting, float64(w.Count), w.what)
		age := 0.0
		if !w.Oldest.IsZero() {
			age = max(0, st.At.Sub(w.Oldest).Seconds())
		}
		send(s.oldest, age, w.what)
	}
}
