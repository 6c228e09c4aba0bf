package httpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/httpserver"
)

// sound are tokens whose authenticator never fails.
type sound struct{ tokens }

func (s sound) Authenticate(ctx context.Context, token string) (httpserver.Identity, error) {
	if !strings.Contains(token, "-") {
		return httpserver.Identity{}, httpserver.ErrInvalidToken
	}
	return s.tokens.Authenticate(ctx, token)
}

// Whatever comes over the wire: the server never fails, and what is not success
// is a whole problem document.
func FuzzRequest(f *testing.F) {
	w := newWorld(f, func(w *world) {
		w.options.Auth = sound{}
		w.options.CORSOrigins = []string{"https://a.example"}
		w.options.Logger = slog.New(slog.DiscardHandler)
	})
	b := w.book()
	request := func(method, target, rest string) string {
		return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer anna-rw\r\n%s", method, target, rest)
	}
	withBody := func(target, text string) string {
		return request("POST", target, fmt.Sprintf("Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(text), text))
	}
	for _, seed := range []string{
		request("GET", "/stations?search=b&country=de&coordinates=52.5,13.4&page=2&limit=5", "\r\n"),
		request("GET", "/stations/"+berlin, "\r\n"),
		request("GET", search+"&bicycles=true&dogs=false&after=x", "\r\n"),
		request("GET", "/trips/"+b.TripID, "Accept: text/html, application/json;q=0.5\r\n\r\n"),
		request("GET", "/bookings?&&page=3", "X-Forwarded-Host: evil\r\n\r\n"),
		request("GET", "/bookings/"+b.ID, "\r\n"),
		request("GET", "/bookings/"+b.ID+"/payments", "\r\n"),
		request("GET", "/bookings/"+b.ID+"/payment", "\r\n"),
		request("DELETE", "/bookings/"+nobody, "\r\n"),
		request("OPTIONS", "*", "\r\n"),
		request("GET", "http://other/readyz", "\r\n"),
		withBody("/bookings", newBooking(b.TripID)),
		withBody("/bookings/"+b.ID+"/payment", payment("113.58", "4000000000000002")),
		withBody("/bookings/"+b.ID+"/payment", `{"amount":1e2,"currency":"eur","source":{"account_type":"company","number":"AT611904300234573201"}}`),
		request("POST", "/bookings", "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
		"GET / HTTP/1.0\r\n\r\n",
		"GET / HTTP/1.0\r\nAccept: text/html\r\n\r\n",
		"GET /docs HTTP/1.0\r\nAccept: text/html\r\n\r\n",
		"GET /docs/docs.css HTTP/1.0\r\n\r\n",
		"GET /openapi.yaml HTTP/1.0\r\n\r\n",
		"GET a: HTTP/1.0\r\n\r\n",
		request("HEAD", "/bookings", "If-None-Match: \"x\", *\r\nAccept: application/xml\r\n\r\n"),
		request("DELETE", "/bookings/"+b.ID, "If-Match: \"x\", W/\"y\", *\r\n\r\n"),
		request("GET", "/stations", "If-Match: \"a,b\" , *\r\nIf-None-Match: W/\r\n\r\n"),
		request("OPTIONS", "/bookings", "Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n\r\n"),
		request("POST", "/bookings", "Idempotency-Key: \"k\"\r\nContent-Type: application/xml\r\nAccept: application/xml\r\nContent-Length: 10\r\n\r\n<booking/>"),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw)))
		if err != nil {
			return // net/http answers those
		}
		r.RemoteAddr = "192.0.2.1:1"
		rec := httptest.NewRecorder()
		w.server.ServeHTTP(rec, r)
		a := answer{t, rec.Code, rec.Result().Header, rec.Body.String(), r.Method == http.MethodHead}
		if fault := a.fault(); fault != "" || a.status >= 500 {
			t.Errorf("%s\n%d %v\n%s", fault, a.status, a.header, a.body)
		}
	})
}

// A body alone reaches deeper than whole requests do.
func FuzzBody(f *testing.F) {
	w := newWorld(f, func(w *world) { w.options.Logger = slog.New(slog.DiscardHandler) })
	b := w.book()
	for _, seed := range []string{
		newBooking(b.TripID), payment("113.58", "4000000000000002"), payment("1", goodCard), `{"source":{"cvc":1,"x":[{}]},"amount":-0e-0}`,
		"<booking><trip_id>" + b.TripID + "</trip_id><passenger_name>&lt;<![CDATA[x]]></passenger_name><has_dog>1</has_dog></booking>",
		"<?xml version='1.0'?><!-- --><b:booking xmlns:b='b'><b:passenger_name xsi:nil='true'/></b:booking>",
		"<booking xmlns='u' xmlns:b='u' a='1' b:a='2'><trip_id>" + b.TripID + "</trip_id><b:passenger_name>&#xD800;</b:passenger_name></booking>&#32;",
		"<?xml version=\"1.0\" encoding='utf-8' standalone='no'?><booking a='&#x1F686;'a='1'><!----><x:y/></booking><?xml version='1.0'?><![CDATA[]]>",
		`{"amount":1,"currency":"eur","source":{"name":"A","number":"12345678","sort_code":"12-34-56","account_type":"individual","bank_name":"B","country":"GB"}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, target := range []string{"/bookings", "/bookings/" + b.ID + "/payment"} {
			r := httptest.NewRequest("POST", target, strings.NewReader(text))
			r.Header.Set("Authorization", "Bearer anna-w")
			r.Header.Set("Content-Type", "application/json")
			if strings.HasPrefix(text, "<") {
				r.Header.Set("Content-Type", "application/xml")
				r.Header.Set("Accept", "application/xml")
			}
			rec := httptest.NewRecorder()
			w.server.ServeHTTP(rec, r)
			a := answer{t, rec.Code, rec.Result().Header, rec.Body.String(), r.Method == http.MethodHead}
			if fault := a.fault(); fault != "" || a.status >= 500 {
				t.Errorf("%s %q: %s\n%d %v\n%s", target, text, fault, a.status, a.header, a.body)
			}
		}
	})
}
