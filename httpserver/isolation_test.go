package httpserver_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
	"github.com/traintravel/traintravel/ticket"
)

// What one user may not know of another is shown by two worlds. In one of them Anna
// has bookings, payments, a ticket and a webhook; the other is the same in all but
// that. Whoever may not know of them sends the same requests in both, with all that
// Anna knows: her IDs, tags, cursors and keys. Each answer has to be the same in both
// worlds, to the byte, its status and its headers with it.
//
// What the requests are is in isolation_matrix_test.go.

// people are who asks. A token is the name of one, a slash, and scopes.
var people = map[string]traintravel.Caller{
	"the-owner":                                {Subject: traintravel.Subject{Issuer: "test", ID: "anna"}, Client: "app"},
	"the-owner-through-another-client":         {Subject: traintravel.Subject{Issuer: "test", ID: "anna"}, Client: "shop"},
	"another-user":                             {Subject: traintravel.Subject{Issuer: "test", ID: "berta"}, Client: "app"},
	"another-user-through-another-client":      {Subject: traintravel.Subject{Issuer: "test", ID: "berta"}, Client: "shop"},
	"the-same-name-at-another-issuer":          {Subject: traintravel.Subject{Issuer: "elsewhere", ID: "anna"}, Client: "app"},
	"a-name-in-other-letters":                  {Subject: traintravel.Subject{Issuer: "test", ID: "Anna"}, Client: "app"},
	"a-program-of-the-owners-name":             {Subject: traintravel.Subject{Issuer: "test", ID: "client:anna"}, Client: "anna", ForItself: true},
	"the-program-that-the-operator-has-named":  {Subject: traintravel.Subject{Issuer: "test", ID: "client:app"}, Client: "app", ForItself: true},
	"a-program-of-its-name-at-another-issuer":  {Subject: traintravel.Subject{Issuer: "elsewhere", ID: "client:app"}, Client: "app", ForItself: true},
	"a-name-and-a-client-that-read-as-another": {Subject: traintravel.Subject{Issuer: "test", ID: "ann"}, Client: "aapp"},
}

const (
	theOwner = "the-owner"
	theirOwn = "the-owner-through-another-client"
	theNamed = "the-program-that-the-operator-has-named"
)

// personal tells who a token of people stands for.
type personal struct{}

func (personal) Authenticate(_ context.Context, token string) (httpserver.Identity, error) {
	name, scopes, _ := strings.Cut(token, "/")
	by, ok := people[name]
	if !ok {
		return httpserver.Identity{}, httpserver.ErrInvalidToken
	}
	return httpserver.Identity{Caller: by, Read: strings.Contains(scopes, "r"), Write: strings.Contains(scopes, "w")}, nil
}

// A side is one of the two worlds.
type side struct {
	*world
	mu     sync.Mutex
	posted map[string][]string // bodies by host
}

// newSides makes the two worlds, and returns what is the owner's in the first.
func newSides(t *testing.T, issuer *ticket.Issuer, keys ticket.Keys) (with, without *side, own *owned) {
	for _, s := range []**side{&with, &without} {
		made := &side{posted: map[string][]string{}}
		var ids atomic.Uint64
		made.world = newWorld(t, withWebhooks(transport(made.receive)), func(w *world) {
			w.service_.NewID = func() (id uuid.UUID) {
				binary.BigEndian.PutUint64(id[8:], ids.Add(1)<<1)
				id[6], id[8] = 0x40, 0x80
				return id
			}
			w.service_.Webhooks.Clients = []string{"app"}
			w.options.Auth, w.options.Tickets, w.options.TicketKeys = personal{}, issuer, keys
		})
		*s = made
		if s == &with {
			own = made.settle()
		} else {
			made.pass()
		}
		ids.Store(1 << 40)
	}
	return with, without, own
}

// receive takes what is posted to webhooks.
func (s *side) receive(r *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.posted[r.URL.Host] = append(s.posted[r.URL.Host], string(text))
	return &http.Response{StatusCode: 200, Body: http.NoBody}, err
}

// The parts that differ in every response: the instances of problems, and secrets.
var passing = regexp.MustCompile(`urn:uuid:[0-9a-f-]{36}|whsec_[A-Za-z0-9+/=]+`)

// seen asks, and returns all that the asker sees.
func (s *side) seen(method, target, token string, parts []part) (answer, string) {
	s.t.Helper()
	if token != "" {
		parts = slices.Concat(parts, []part{as(token)})
	}
	a := s.serve(method, target, parts...)
	var b strings.Builder
	fmt.Fprintln(&b, a.status)
	for _, name := range slices.Sorted(maps.Keys(a.header)) {
		if by, _, _ := strings.Cut(token, "/"); name == "Ratelimit" && by == theOwner {
			continue // who has asked in one of the worlds only
		}
		fmt.Fprintln(&b, name, a.header[name])
	}
	if len(a.body) < 16<<10 { // the description has neither
		return a, b.String() + passing.ReplaceAllString(a.body, "?")
	}
	return a, b.String() + a.body
}

// views are what the owner sees of what is the owner's, or of the webhooks alone.
func (s *side) views(own *owned, webhooksAlone bool) map[string]string {
	all := map[string]string{}
	for _, target := range own.views(webhooksAlone) {
		a, seen := s.seen("GET", target, theOwner+"/r", nil)
		if a.want(200); strings.HasSuffix(target, "/ticket") {
			seen = a.header.Get("Content-Disposition") // a signature is another each time
		}
		all[target] = seen
	}
	return all
}

// No user can see, change, list or infer the data of another.
func TestIsolation(t *testing.T) {
	t.Parallel()
	issuer, keys := newIssuer(t)
	callers := []string{"", "forged"}
	for name := range people {
		callers = append(callers, name+"/rw")
	}
	for _, name := range []string{theOwner, theirOwn, theNamed, "another-user"} {
		callers = append(callers, name+"/", name+"/r", name+"/w")
	}
	for _, token := range callers {
		t.Run(token, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				with, without, own := newSides(t, issuer, keys)
				name, scopes, known := strings.Cut(token, "/")
				c := isolation{t: t, with: with, without: without, own: own, name: name, token: token, scopes: scopes, known: known}
				c.run()
			})
		})
	}
}

// An isolation is what one token is shown.
type isolation struct {
	t                   *testing.T
	with, without       *side
	own                 *owned
	name, token, scopes string
	known               bool // who it is
}

func (c *isolation) run() {
	passes := 1
	if c.name != theOwner && c.name != theirOwn {
		passes = 2 // in the second, whoever asks has things of their own
	}
	webhooksAlone := c.name == theirOwn
	before := c.with.views(c.own, webhooksAlone)
	for range passes {
		for _, r := range matrix {
			method, _, _ := strings.Cut(r.op, " ")
			for _, ask := range r.asks(c.own) {
				c.ask(r, method, ask)
				if method != http.MethodGet {
					continue
				}
				c.ask(r, http.MethodHead, ask)
				if ask.parts == nil { // a tag is of one form
					ask.parts = []part{header("Accept", "application/problem+xml, application/xml, application/pdf")}
					c.ask(r, method, ask)
				}
			}
		}
	}
	if c.name == theOwner {
		return
	}
	c.elsewhere()
	if diff := cmp.Diff(before, c.with.views(c.own, webhooksAlone)); diff != "" {
		c.t.Errorf("what the owner has is another (-before +after): %s", diff)
	}
	c.events()
}

// ask sends a request and looks at the answer.
func (c *isolation) ask(r row, method string, a ask) {
	c.t.Helper()
	got, seen := c.with.seen(method, a.target, c.token, a.parts)
	allowed := c.known && strings.Count(r.scope, "r") <= strings.Count(c.scopes, "r") && strings.Count(r.scope, "w") <= strings.Count(c.scopes, "w")
	mine := allowed && (c.name == theOwner || c.name == theirOwn && r.whose == users)
	var want int
	switch {
	case r.scope == "":
		want = a.owner
	case !c.known:
		want = 401
	case !allowed:
		want = 403
	case mine && c.name == theirOwn && a.kin != 0:
		want = a.kin
	case mine:
		want = a.owner
	default:
		want = a.other
	}
	what := method + " " + a.target
	if got.status != want {
		c.t.Errorf("%s: %d, want %d: %s", what, got.status, want, got.body)
	}
	if !slices.Contains(r.kept(), got.header.Get("Cache-Control")) && got.status < 400 || got.status >= 400 && got.header.Get("Cache-Control") != "no-store" {
		c.t.Errorf("%s: %d may be kept: %s", what, got.status, got.header["Cache-Control"])
	}
	if vary := strings.TrimPrefix(got.header.Get("Vary"), "Accept-Encoding, "); vary != "Accept, Authorization" {
		c.t.Errorf("%s: %d depends on %q", what, got.status, vary)
	}
	_, same := c.without.seen(method, a.target, c.token, a.parts)
	if same != seen && (!mine || r.whose == everyones) {
		c.t.Errorf("%s is answered by what is another's. As it is:\n%s\n\nif it were not:\n%s", what, seen, same)
	}
}

// kept are the ways in which caches may keep a success.
func (r row) kept() []string {
	switch {
	case r.whose != everyones:
		return []string{"no-store"}
	case r.scope != "":
		return []string{"private, max-age=3600", "private, no-cache", "no-store"}
	}
	return []string{"public, max-age=3600", "no-store"}
}

// elsewhere asks for the owner's delivery at a webhook of the asker's own, and turns
// the pages of their own lists.
func (c *isolation) elsewhere() {
	if c.scopes != "rw" {
		return
	}
	for _, s := range []*side{c.with, c.without} {
		var list collection
		a, _ := s.seen("GET", "/webhooks", c.token, nil)
		if a.into(&list); len(list.Data) != 1 {
			c.t.Fatalf("the asker's webhooks are %s", a.body)
		}
		own := "/webhooks/" + list.Data[0].ID
		a, _ = s.seen("POST", own+"/deliveries/"+c.own.delivery+"/retry", c.token, []part{key(c.own.key)})
		a.problem(404, "not-found")
		a, _ = s.seen("PATCH", own, c.token, []part{body(`{"url":"https://asker.example/"}`)})
		a.want(200)
		a, _ = s.seen("GET", own+"/deliveries?after="+c.own.after["deliveries"], c.token, nil)
		if a.into(&list); a.status != 200 || len(list.Data) != 0 {
			c.t.Errorf("the asker's deliveries are %s", a.body)
		}
	}
}

// events has the owner book once more: whoever else has subscribed learns nothing of
// it, but the operator's.
func (c *isolation) events() {
	c.with.later(time.Second)
	made, _ := c.with.seen("POST", "/bookings", theOwner+"/w", []part{body(newBooking(c.own.trip))})
	id := made.want(201).resource().ID
	c.with.deliver()
	c.with.mu.Lock()
	defer c.with.mu.Unlock()
	toldOwner := strings.Contains(strings.Join(c.with.posted["owner.example"], ""), id)
	told := strings.Contains(strings.Join(c.with.posted["asker.example"], ""), id)
	if want := c.scopes == "rw" && (c.name == theNamed || c.name == theirOwn); told != want || !toldOwner {
		c.t.Errorf("told of a new booking: %t, want %t; the owner: %t", told, want, toldOwner)
	}
}

// Every route is in the matrix, and in the description, which has the scope that
// the matrix has.
func TestIsolationHasAllRoutes(t *testing.T) {
	t.Parallel()
	own := &owned{after: map[string]string{}, tag: map[string]string{}}
	inMatrix := map[string]string{}
	for _, r := range matrix {
		if _, twice := inMatrix[r.op]; twice || len(r.asks(own)) == 0 {
			t.Errorf("%s is there twice, or asks nothing", r.op)
		}
		inMatrix[r.op] = r.scope
	}
	routed := newWorld(t).server.Routes()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(routed)), slices.Sorted(maps.Keys(inMatrix))); diff != "" {
		t.Errorf("routes (-) and the matrix (+): %s", diff)
	}
	delete(inMatrix, "GET /docs/{file}")                                 // what the page /docs needs
	delete(inMatrix, "GET /.well-known/oauth-protected-resource/{path}") // the same, elsewhere
	scopes := map[string]string{}
	described(t).operations(t, func(method, path, _ string, op json.RawMessage) {
		scope := strings.Join(describedScopes(t, method+" "+path, op), "")
		scopes[method+" "+path] = strings.NewReplacer("read", "r", "write", "w").Replace(scope)
	})
	if diff := cmp.Diff(scopes, inMatrix); diff != "" {
		t.Errorf("scopes as described (-) and in the matrix (+): %s", diff)
	}
}
