package main

import (
	"strings"
	"testing"
)

// The command webhooks lists disabled subscriptions of users, with who disabled them, why, and
// only the host of their URLs. The metrics count them.
func TestWebhooksListsStoppedOnes(t *testing.T) {
	t.Parallel()
	w := startWatched(t, nil)
	data := w.folder + "/t.db"
	if said := says(t, 0, "", "webhooks", "--data", data); strings.Contains(said, "disabled") {
		t.Errorf("before anybody subscribes: %s", said)
	}
	hook := w.call(w.token, "POST", "/webhooks", `{"url":"https://shop.example/a-secret-path"}`, 201)
	id := hook["id"].(string)
	is := w.call(w.token, "PATCH", "/webhooks/"+id, `{"disabled":true}`, 200)
	if is["disabled_by"] != "owner" || is["disabled_reason"] == "" || is["disabled_at"] == nil {
		t.Errorf("%v", is)
	}
	said := says(t, 0, id+` of user "anna", client "traintravel-demo", host shop.example: disabled by the owner at `+is["disabled_at"].(string)[:10], "webhooks", "--data", data)
	if strings.Contains(said, "a-secret-path") {
		t.Errorf("it shows the path: %s", said)
	}
	if n := w.metrics()[`traintravel_webhooks_disabled_total{by="owner"}`]; n != 1 {
		t.Errorf("%v are counted", n)
	}
	is = w.call(w.token, "PATCH", "/webhooks/"+id, `{"disabled":false}`, 200)
	if said := says(t, 0, "", "webhooks", "--data", data); strings.Contains(said, id) || is["disabled_by"] != nil {
		t.Errorf("enabled again: %v, %s", is, said)
	}
}
