package httpserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/traintravel/traintravel"
)

// forbidden are addresses of each kind that subscribers must not reach.
var forbidden = []string{
	"0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254", // this host
	"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", // private
	"169.254.169.254", "169.254.0.1", // link-local, where clouds tell secrets
	"100.64.0.1", "100.127.255.254", // carrier-grade NAT
	"192.0.0.1", "192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.88.99.1", // nobody's
	"224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", // multicast, reserved, broadcast
	"::", "::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1", "ff0e::1", "100::1",
	"::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::ffff:0:127.0.0.1", // mapped, compatible, translated
	"64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::a00:1", // NAT64
	"2002:7f00:1::1", "2002:808:808::1", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", // 6to4, Teredo
	"2001:db8::1", "3fff::1", "2001:10::1", "2001:20::1", "5f00::1",
}

// allowed are addresses of the internet.
var allowed = []string{"8.8.8.8", "93.184.216.34", "172.15.0.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"}

// names answers lookups: the nth of a name gets its nth address, or the last.
type names struct {
	mu        sync.Mutex
	addresses map[string][]string
	asked     map[string]int // questions: two a lookup, for A and for AAAA
}

// resolver is one that asks names.
func (n *names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go n.serve(there)
		return here, nil
	}}
}

// serve answers one question, in the form that it has over TCP.
func (n *names) serve(c net.Conn) {
	defer c.Close()
	b := make([]byte, 2048)
	size, err := c.Read(b)
	if err != nil {
		return
	}
	if size == 2 { // the length came by itself
		if size, err = c.Read(b); err != nil {
			return
		}
	} else {
		b, size = b[2:], size-2
	}
	var m dnsmessage.Message
	if m.Unpack(b[:size]) != nil || len(m.Questions) == 0 {
		return
	}
	q := m.Questions[0]
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	for _, text := range n.answer(strings.TrimSuffix(q.Name.String(), ".")) {
		a := netip.MustParseAddr(text)
		h := dnsmessage.ResourceHeader{Name: q.Name, Class: dnsmessage.ClassINET}
		switch {
		case q.Type == dnsmessage.TypeA && a.Is4():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AResource{A: a.As4()}})
		case q.Type == dnsmessage.TypeAAAA && a.Is6():
			m.Answers = append(m.Answers, dnsmessage.Resource{Header: h, Body: &dnsmessage.AAAAResource{AAAA: a.As16()}})
		}
	}
	packed, err := m.Pack()
	if err != nil {
		return
	}
	_, _ = c.Write(append([]byte{byte(len(packed) >> 8), byte(len(packed))}, packed...))
}

func (n *names) answer(name string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.addresses[name]
	if len(all) == 0 {
		return nil
	}
	i := min(n.asked[name]/2, len(all)-1)
	n.asked[name]++
	return strings.Split(all[i], " ")
}

// guardedSender has the guard ask what names stand for, and makes no connection that
// the guard allows: its error is errAllowed.
func guardedSender(t *testing.T, n *names) *WebhookSender {
	s, err := NewWebhookSender(WebhookSenderOptions{BaseURL: "https://trains.example"})
	if err != nil {
		t.Fatal(err)
	}
	s.guarded = webhookTransport(&net.Dialer{Resolver: n.resolver(), Control: func(network, address string, c syscall.RawConn) error {
		if err := guardian.Safe(network, address, c); err != nil {
			return err
		}
		return errAllowed
	}})
	return s
}

var errAllowed = errors.New("the guard allows it")

func posting(url string, e traintravel.EventType) traintravel.WebhookPost {
	return traintravel.WebhookPost{URL: url, Event: traintravel.Event{ID: uuid.New(), Type: e}}
}

// The address that is connected to is checked, whether a URL has it or a name stands
// for it, and for a ping too.
func TestGuardedAddresses(t *testing.T) {
	t.Parallel()
	n := &names{addresses: map[string][]string{}, asked: map[string]int{}}
	s := guardedSender(t, n)
	try := func(host string) error {
		t.Helper()
		var all []error
		for _, e := range []traintravel.EventType{traintravel.BookingCreated, traintravel.Ping} {
			_, err := s.Send(t.Context(), posting("https://"+host+":8443/", e))
			all = append(all, err)
		}
		if errors.Is(all[0], errAllowed) != errors.Is(all[1], errAllowed) {
			t.Errorf("%s: %v", host, all)
		}
		return all[0]
	}
	for i, address := range append(forbidden, allowed...) {
		literal := address
		if strings.Contains(address, ":") {
			literal = "[" + address + "]"
		}
		name := fmt.Sprintf("n%d.example", i)
		n.addresses[name] = []string{address}
		want := i >= len(forbidden)
		if address == "::ffff:8.8.8.8" {
			want = true // a system connects to 8.8.8.8 then, which is what is checked
		}
		for _, host := range []string{literal, name} {
			if err := try(host); errors.Is(err, errAllowed) != want || !want && !strings.Contains(err.Error(), "prohibited") {
				t.Errorf("%s (%s): %v", host, address, err)
			}
		}
		var bad *traintravel.InvalidError
		if err := s.CheckURL("https://" + literal + "/"); i < len(forbidden) != errors.As(err, &bad) {
			t.Errorf("%s is checked: %v", literal, err)
		}
	}
}

// A name may stand for another address at each try.
func TestGuardedNamesChange(t *testing.T) {
	t.Parallel()
	n := &names{addresses: map[string][]string{"rebind.example": {"93.184.216.34", "127.0.0.1", "169.254.169.254", "fd00::1"}}, asked: map[string]int{}}
	s := guardedSender(t, n)
	const url = "https://rebind.example/"
	if err := s.CheckURL(url); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		_, err := s.Send(t.Context(), posting(url, []traintravel.EventType{traintravel.BookingCreated, traintravel.Ping}[i%2]))
		if want := i == 0; errors.Is(err, errAllowed) != want {
			t.Errorf("try %d: %v", i+1, err)
		}
	}
}

// Posts for subscribers never reach a refused address; posts for the operator do.
func TestGuardedSenderConnectsToNothing(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	var connections atomic.Int32
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { calls.Add(1) }))
	srv.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	srv.StartTLS()
	defer srv.Close()
	s, err := NewWebhookSender(WebhookSenderOptions{BaseURL: "https://trains.example"})
	if err != nil {
		t.Fatal(err)
	}
	trusting := srv.Client().Transport.(*http.Transport).TLSClientConfig
	for _, way := range []http.RoundTripper{s.guarded, s.plain} {
		tr := way.(*http.Transport)
		if tr.TLSClientConfig = trusting.Clone(); tr.Proxy != nil {
			t.Error("a proxy is asked")
		}
	}
	p := posting(srv.URL, traintravel.Ping)
	if a, err := s.Send(t.Context(), p); err == nil || a != (traintravel.WebhookAnswer{}) || connections.Load() != 0 {
		t.Errorf("%+v, %v, %d connections", a, err, connections.Load())
	}
	p.Operator = true
	for range 2 {
		if a, err := s.Send(t.Context(), p); err != nil || a.Status != 200 {
			t.Errorf("%+v, %v", a, err)
		}
	}
	if calls.Load() != 2 || connections.Load() != 1 {
		t.Errorf("%d calls over %d connections", calls.Load(), connections.Load())
	}
	private, err := NewWebhookSender(WebhookSenderOptions{BaseURL: "https://trains.example", AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	private.guarded.(*http.Transport).TLSClientConfig = trusting.Clone()
	if a, err := private.Send(t.Context(), posting(srv.URL, traintravel.Ping)); err != nil || a.Status != 200 {
		t.Errorf("private ones are allowed: %+v, %v", a, err)
	}
}

// CheckURL refuses URLs that are invalid whatever their host resolves to.
func TestCheckURL(t *testing.T) {
	t.Parallel()
	s, err := NewWebhookSender(WebhookSenderOptions{BaseURL: "https://trains.example"})
	if err != nil {
		t.Fatal(err)
	}
	private, err := NewWebhookSender(WebhookSenderOptions{BaseURL: "https://trains.example", AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	check := func(s *WebhookSender, url string, want bool) {
		t.Helper()
		err := s.CheckURL(url)
		if bad, ok := errors.AsType[*traintravel.InvalidError](err); (err == nil) != want || ok && bad.Field != "url" {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{
		"https://hooks.example", "https://hooks.example/a?b=c", "https://HOOKS.example:8443/", "https://hooks.example./", "https://xn--bcher-kva.example/",
		"https://8.8.8.8/", "https://[2606:4700::1111]:4444/", "https://a_b.example", "https://hooks.example:/", "https://1.2.example", "https://0x7f.example",
		"https://localhost.example/", "https://hooks.example:80/", "https://hooks.example:443/", "https://hooks.example:1024/", "https://hooks.example:65535/",
	} {
		check(s, url, true)
		check(private, url, true)
	}
	for _, url := range []string{
		"http://hooks.example", "https://localhost", "https://LOCALHOST.:8443/", "https://a.localhost/", "https://127.0.0.1", "https://[::1]:8443",
		"https://10.1.2.3:8443", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[0:0:0:0:0:ffff:7f00:0001]/", "https://[64:ff9b::1]",
	} {
		check(s, url, false)
		check(private, url, true)
	}
	for _, url := range []string{
		"", "hooks.example", "//hooks.example", "https:", "https:///a", "https:hooks.example", "https://:443/", "ftp://hooks.example", "javascript:alert(1)", "file:///etc/passwd",
		"https://user@hooks.example", "https://user:pass@hooks.example", "https://@hooks.example", "https://127.0.0.1@hooks.example",
		"https://hooks.example#", "https://hooks.example/#a", "https://hooks.example:0", "https://hooks.example:65536", "https://hooks.example:x",
		"https://hooks.example:1/", "https://hooks.example:25/", "https://hooks.example:79/", "https://hooks.example:444/", "https://hooks.example:1023/", "https://8.8.8.8:22/", "https://[2606:4700::1111]:993/",
		"https://2130706433/", "https://0x7f000001/", "https://017700000001/", "https://0177.0.0.1/", "https://0x7f.1/", "https://127.1/", "https://127.0.1", "https://127.0.0.1./",
		"https://00127.0.0.1", "https://0/", "https://1.1", "https://256.256.256.256/", "https://1.2.3.4.5", "https://0xa9.0xfe.0xa9.0xfe/", "https://a.0x",
		"https://[fe80::1%25eth0]/", "https://[::ffff:127.0.0.1%25x]/", "https://[127.0.0.1]/", "https://[]/", "https://[::1", "https://::1/",
		"https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/", "https://%31%32%37.0.0.1/", "https://loc\u00adalhost/", "https://ⓛocalhost", "https://bücher.example/",
		"https://hooks.example\\@127.0.0.1/", "https://hooks example/", "https://hooks.example/\n", "https://a..example", "https://.example", "https://" + strings.Repeat("a", 64) + ".example",
	} {
		check(s, url, false)
		check(private, url, false)
	}
}

// The error of a port lists the allowed ports; earlier subscriptions to other ports get no posts;
// the operator's endpoints may have any port.
func TestPortsOfURLs(t *testing.T) {
	t.Parallel()
	asked := ""
	s, err := NewWebhookSender(WebhookSenderOptions{BaseURL: "https://trains.example", Transport: carrier(func(r *http.Request) { asked = r.URL.Host })})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.CheckURL("https://hooks.example:25/"); err == nil || !strings.Contains(err.Error(), "port 25: webhooks go to ports 80, 443, and 1024 to 65535") {
		t.Error(err)
	}
	p := posting("https://hooks.example:25/", traintravel.Ping)
	if a, err := s.Send(t.Context(), p); err == nil || asked != "" {
		t.Errorf("%+v, %v, asked %s", a, err, asked)
	}
	p.Operator = true
	if _, err := s.Send(t.Context(), p); err != nil || asked != "hooks.example:25" {
		t.Errorf("the operator's: %v, asked %s", err, asked)
	}
}

// Subscriptions that were made while http was allowed get no posts when it is not.
func TestSendIsHTTPS(t *testing.T) {
	t.Parallel()
	asked := false
	s, err := NewWebhookSender(WebhookSenderOptions{BaseURL: "https://trains.example", Transport: carrier(func(*http.Request) { asked = true })})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := s.Send(t.Context(), posting("http://hooks.example/", traintravel.Ping)); err == nil || asked {
		t.Errorf("%+v, %v", a, err)
	}
	if _, err := s.Send(t.Context(), posting("https://hooks.example/", traintravel.Ping)); err != nil || !asked {
		t.Errorf("%v, asked: %v", err, asked)
	}
}

// A carrier is a transport that answers all with 200.
type carrier func(*http.Request)

func (c carrier) RoundTrip(r *http.Request) (*http.Response, error) {
	c(r)
	return &http.Response{StatusCode: 200, Body: http.NoBody}, nil
}
