package metrics

import "github.com/prometheus/client_golang/prometheus"

// A Work describes the load of a server with one kind of work.
type Work struct {
	Kind                 string // such as search
	Slots, Busy, Waiting int    // how many requests may be worked on at a time, are, and wait for it
	Refused, OverShare   uint64 // how many were refused because too many waited, and because one caller had too many
	Most                 string // who had most when one was last refused, by a hash; empty if none was
	MostInHand, InHand   int    // how many those were, and how many all had
}

// workCollector tells of work when it is asked.
type workCollector struct {
	now                                    func() []Work
	slots, busy, waiting, refused, holding *prometheus.Desc
}

// WatchWork adds metrics of a server's load, which now returns. Call it at most once.
func (m *Metrics) WatchWork(now func() []Work) {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("traintravel_http_work_"+name, help, append([]string{"work"}, labels...), nil)
	}
	m.registry.MustRegister(&workCollector{
		now:     now,
		slots:   desc("slots", "Requests that may be worked on at a time, by kind of work."),
		busy:    desc("busy", "Requests that are worked on, by kind of work."),
		waiting: desc("waiting", "Requests that wait for their turn, by kind of work."),
		refused: desc("refused_total", "Requests refused by kind of work: busy, because too many waited, or share, because their caller had too many.", "reason"),
		holding: desc("most_ratio", "The part of all requests that the caller with most had when one was last refused because too many waited, by kind of work. The caller, a user of a client or an address, is a hash.", "caller"),
	})
}

// Describe is for prometheus alone.
func (c *workCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{c.slots, c.busy, c.waiting, c.refused, c.holding} {
		to <- d
	}
}

// Collect is for prometheus alone.
func (c *workCollector) Collect(to chan<- prometheus.Metric) {
	for _, w := range c.now() {
		gauge := func(d *prometheus.Desc, v float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, append([]string{w.Kind}, labels...)...)
		}
		gauge(c.slots, float64(w.Slots))
		gauge(c.busy, float64(w.Busy))
		gauge(c.waiting, float64(w.Waiting))
		to <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(w.Refused), w.Kind, "busy")
		to <- prometheus.MustNewConstMetric(c.refused, prometheus.CounterValue, float64(w.OverShare), w.Kind, "share")
		if w.Most != "" && w.InHand > 0 {
			gauge(c.holding, float64(w.MostInHand)/float64(w.InHand), w.Most)
		}
	}
}
