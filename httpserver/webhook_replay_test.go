package httpserver_test

import "testing"

// A request that is repeated with its key gets the first response again, also when the webhook
// has another secret by then, or is deleted.
func TestWebhookRequestsAreReplayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	subscribe := func() answer {
		return w.do("POST", "/webhooks", as("anna-rw"), key("make"), body(`{"url":"https://shop.example/"}`)).want(201)
	}
	made := subscribe()
	at := "/webhooks/" + made.resource().ID
	renew := func() answer { return w.do("POST", at+"/secret", as("anna-rw"), key("renew")).want(200) }
	renewed := renew()
	w.do("POST", at+"/secret", as("anna-rw")).want(200)
	same := func(when string, first, again answer) {
		t.Helper()
		if again.body != first.body || again.header.Get("Location") != first.header.Get("Location") || again.header.Get("Idempotency-Replayed") != "true" {
			t.Errorf("%s: %v\n%s\nthen %v\n%s", when, first.header, first.body, again.header, again.body)
		}
	}
	same("made", made, subscribe())
	same("renewed", renewed, renew())
	w.do("DELETE", at, as("anna-rw")).want(204)
	same("made, after the end", made, subscribe())
	same("renewed, after the end", renewed, renew())
}
