// Package metrics collects Prometheus metrics about a [traintravel.Service], in its own
// registry, so that any number of services can run in one process.
//
//	m := metrics.New("1.2.3")
//	store, err := boltstore.Open("trains.db", &boltstore.Options{Committed: m.Committed})
//	service, err := traintravel.New(store, traintravel.Options{Observer: m.Observer()})
//	m.Watch(service)
//	http.Handle("/metrics", m)
//
// Labels contain nothing that clients choose: no paths, IDs or names. So the number of
// series is limited by the number of operations, statuses and outcomes.
package metrics

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/traintravel/traintravel"
)

// Metrics are those of one service. Make them with New. They are an [http.Handler] that
// answers what Prometheus scrapes, and safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	scraped  http.Handler

	inFlight  prometheus.Gauge
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	bytes     *prometheus.CounterVec
	refusals  *prometheus.CounterVec

	bookings, payments, refunds *prometheus.CounterVec
	deliveries                  *prometheus.CounterVec
	disabled, dead              *prometheus.CounterVec
	unreadable                  *prometheus.CounterVec
	failing                     *prometheus.GaugeVec
	lag                         *prometheus.HistogramVec

	commits               prometheus.Counter
	commitFailures        *prometheus.CounterVec
	commitDuration, group prometheus.Observer

	keySets  *prometheus.CounterVec
	keysAsOf prometheus.Gauge
}

// seconds are the buckets of what takes from a tenth of a millisecond to ten seconds.
var seconds = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// New returns metrics of a program of a version.
func New(version string) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "traintravel_" + name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: "traintravel_" + name, Help: help})
		m.registry.MustRegister(g)
		return g
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "traintravel_" + name, Help: help, Buckets: buckets}, labels)
		m.registry.MustRegister(h)
		return h
	}
	m.inFlight = gauge("http_requests_in_flight", "Requests that are being answered.")
	m.requests = counter("http_requests_total", "Requests answered, by operation and status; code 0 is an answer that was cut off.", "route", "method", "code")
	m.durations = histogram("http_request_duration_seconds", "How long requests took, by operation.", seconds, "route", "method")
	m.bytes = counter("http_response_bytes_total", "Bytes of the bodies of answers, by operation.", "route", "method")
	m.refusals = counter("http_refusals_total", "Requests refused, by the type of the problem.", "problem")
	m.bookings = counter("bookings_total", "Bookings by the status that they have entered: held is a new one, expired a hold that was not paid.", "status")
	m.payments = counter("payments_total", "Payments by the status that they have entered: pending is one begun.", "status")
	m.refunds = counter("refunds_total", "Refunds by the status that they have entered: pending is one begun.", "status")
	m.deliveries = counter("delivery_attempts_total", "Attempts to deliver an event, to the notifier or to a webhook: delivered, failed and tried again, or dead and given up.", "to", "outcome")
	m.disabled = counter("webhooks_disabled_total", "Webhooks that were disabled, by whom: the owner, or the receiver, which responded with 410.", "by")
	m.dead = counter("deliveries_dead_total", "Deliveries to webhooks that were given up, by why: attempts, gone, disabled, removed, overflow, unverified or too-many-pings.", "reason")
	m.unreadable = counter("unreadable_records_total", "Records left out by an operation because they are damaged, or newer than the program, by table.", "table", "reason")
	m.failing = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "traintravel_work_failing", Help: "Things that the program failed to do in the background at its latest try, and tries again, by kind of work."}, []string{"work"})
	m.registry.MustRegister(m.failing)
	m.lag = histogram("delivery_lag_seconds", "How long after it happened an event was delivered.",
		[]float64{.01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800, 7200, 43200, 86400}, "to")
	m.commits = counter("store_commits_total", "Commits of the store.").WithLabelValues()
	m.commitFailures = counter("store_commit_failures_total", "Commits of the store that failed.", "reason")
	m.commitDuration = histogram("store_commit_duration_seconds", "How long a commit took.", seconds).WithLabelValues()
	m.group = histogram("store_commit_updates", "Updates that shared a commit.", []float64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024}).WithLabelValues()
	m.keySets = counter("key_set_fetches_total", "Times that the issuer of tokens was asked for its keys.", "outcome")
	m.keysAsOf = gauge("key_set_fetched_timestamp_seconds", "When the issuer of tokens last told its keys; zero before.")

	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "traintravel_build_info", Help: "The program: always 1."}, []string{"version", "goversion"})
	build.WithLabelValues(version, runtime.Version()).Set(1)
	m.registry.MustRegister(build, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.start()
	m.scraped = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 3, Timeout: 20 * time.Second})
	return m
}

// start makes the series of what is known before it happens, so that the first of it
// is an increase.
func (m *Metrics) start() {
	for _, s := range [...]traintravel.BookingStatus{traintravel.Held, traintravel.Confirmed, traintravel.Expired, traintravel.Cancelled} {
		m.bookings.WithLabelValues(s.String())
	}
	for _, s := range [...]traintravel.PaymentStatus{traintravel.Pending, traintravel.Succeeded, traintravel.Failed} {
		m.payments.WithLabelValues(string(s))
		m.refunds.WithLabelValues(string(s))
	}
	for _, to := range [...]string{notifier, webhook} {
		for _, o := range [...]string{"delivered", "failed", "dead"} {
			m.deliveries.WithLabelValues(to, o)
		}
		m.lag.WithLabelValues(to)
	}
	for _, by := range [...]traintravel.DisabledBy{traintravel.DisabledByOwner, traintravel.DisabledByReceiver} {
		m.disabled.WithLabelValues(string(by))
	}
	for _, why := range [...]traintravel.DeadReason{traintravel.DeadByAttempts, traintravel.DeadByReceiver, traintravel.DeadByDisabling,
		traintravel.DeadByRemoval, traintravel.DeadByBacklog, traintravel.DeadByVerification} {
		m.dead.WithLabelValues(string(why))
	}
	for _, t := range traintravel.Tables() {
		m.unreadable.WithLabelValues(t.String(), damaged)
		m.unreadable.WithLabelValues(t.String(), newer)
	}
	for _, r := range [...]string{noSpace, readOnly, inputOutput, unknownOutcome, other} {
		m.commitFailures.WithLabelValues(r)
	}
	for _, o := range [...]string{"succeeded", "failed"} {
		m.keySets.WithLabelValues(o)
	}
}

// ServeHTTP answers with the metrics, in the form that the scraper asks for.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.scraped.ServeHTTP(w, r) }

const (
	notifier = "notifier"
	webhook  = "webhook"

	damaged = "damaged"
	newer   = "newer"
)

// Observer is what counts bookings, payments, deliveries and failures. It leaves Begin nil.
func (m *Metrics) Observer() traintravel.Observer {
	return traintravel.Observer{
		Disabled: func(_ context.Context, by traintravel.DisabledBy) { m.disabled.WithLabelValues(string(by)).Inc() },
		Dead:     func(_ context.Context, why traintravel.DeadReason) { m.dead.WithLabelValues(string(why)).Inc() },
		Failing:  func(f traintravel.FailingWork) { m.failing.WithLabelValues(f.Work).Set(float64(f.Items)) },
		Unreadable: func(_ context.Context, u traintravel.UnreadableRecord) {
			reason := damaged
			if u.Newer {
				reason = newer
			}
			m.unreadable.WithLabelValues(u.Table.String(), reason).Inc()
		},
		Booking: func(_ context.Context, c traintravel.BookingChange) { m.bookings.WithLabelValues(c.To.String()).Inc() },
		Payment: func(_ context.Context, c traintravel.PaymentChange) {
			if c.Refund {
				m.refunds.WithLabelValues(string(c.To)).Inc()
			} else {
				m.payments.WithLabelValues(string(c.To)).Inc()
			}
		},
		Attempt: func(_ context.Context, a traintravel.Attempt) {
			to, outcome := webhook, string(a.Status)
			if a.Notifier {
				to = notifier
			}
			if a.Status == traintravel.DeliveryPending {
				outcome = "failed"
			}
			m.deliveries.WithLabelValues(to, outcome).Inc()
			if a.Status == traintravel.DeliveryDelivered {
				m.lag.WithLabelValues(to).Observe(a.Lag.Seconds())
			}
		},
	}
}

// Why a commit failed.
const (
	noSpace        = "no_space"
	readOnly       = "read_only"
	inputOutput    = "io"
	unavailable    = "unavailable"
	unknownOutcome = "unknown_outcome"
	other          = "other"
)

// Committed counts a commit: it is Options.Committed of a store.
func (m *Metrics) Committed(updates int, took time.Duration, err error) {
	if err == nil {
		m.commits.Inc()
		m.commitDuration.Observe(took.Seconds())
		m.group.Observe(float64(updates))
		return
	}
	reason := other
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		reason = noSpace
	case errors.Is(err, syscall.EROFS):
		reason = readOnly
	case errors.Is(err, traintravel.ErrUnknownOutcome):
		reason = unknownOutcome
	case errors.Is(err, syscall.EIO):
		reason = inputOutput
	case errors.Is(err, traintravel.ErrUnavailable):
		reason = unavailable
	}
	m.commitFailures.WithLabelValues(reason).Inc()
}

// Fetched counts a question to the issuer of tokens, whose answer gave an error or none.
func (m *Metrics) Fetched(err error) {
	if err != nil {
		m.keySets.WithLabelValues("failed").Inc()
		return
	}
	m.keySets.WithLabelValues("succeeded").Inc()
	m.keysAsOf.SetToCurrentTime()
}

// A Request describes a completed HTTP request.
type Request struct {
	Method string        // one of those that HTTP knows
	Route  string        // the operation, never the path; empty if there is none
	Status int           // zero if the answer was cut off
	Bytes  int           // of the body
	Took   time.Duration // until it was answered
	// Problem is the type of the problem that was answered, empty if none was.
	Problem string
}

// Answered counts a request.
func (m *Metrics) Answered(r Request) {
	route := cmp.Or(r.Route, "none")
	m.requests.WithLabelValues(route, r.Method, strconv.Itoa(r.Status)).Inc()
	m.durations.WithLabelValues(route, r.Method).Observe(r.Took.Seconds())
	m.bytes.WithLabelValues(route, r.Method).Add(float64(r.Bytes))
	if r.Problem != "" {
		m.refusals.WithLabelValues(r.Problem).Inc()
	}
}

// InFlight counts the requests that a handler is answering.
func (m *Metrics) InFlight(next http.Handler) http.Handler {
	return promhttp.InstrumentHandlerInFlight(m.inFlight, next)
}
