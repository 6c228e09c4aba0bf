package rail

import "time"

// DisabledBy says who disabled a subscription, as spelled in the API.
type DisabledBy string

// The values of DisabledBy.
const (
	// DisabledByOwner: the owner asked for it.
	DisabledByOwner DisabledBy = "owner"
	// DisabledByReceiver: the receiver responded with 410, which means that it wants no more.
	DisabledByReceiver DisabledBy = "receiver"
	// DisabledByOperator: WebhookOptions no longer has the endpoint or the client.
	DisabledByOperator DisabledBy = "operator"
	// DisabledByUnknown: a version that did not record who did it disabled the subscription.
	DisabledByUnknown DisabledBy = "unknown"
)

// A Disabling says who disabled a subscription, and when. The zero value means that
// the subscription is not disabled.
type Disabling struct {
	By DisabledBy
	At time.Time // zero if it is not known
}

// Reason describes why the subscription was stopped.
func (d Disabling) Reason() string {
	switch d.By {
	case "":
		return ""
	case DisabledByOwner:
		return "its owner disabled it"
	case DisabledByReceiver:
		return "its receiver responded with 410 Gone"
	case DisabledByOperator:
		return "the operator no longer names it"
	}
	return "who disabled it was not recorded"
}

// Stopped returns who has stopped the subscription, empty if it gets events.
func (s *Subscription) Stopped() Disabling {
	if !s.Disabled && s.Removed {
		return Disabling{By: DisabledByOperator}
	}
	return s.Disabling
}

// Disable stops a subscription unless it is stopped already; if By is empty, it enables the
// subscription.
func (s *Subscription) Disable(by DisabledBy, now time.Time) (changed bool) {
	if off := by != ""; s.Disabled == off {
		return false
	}
	s.Disabled, s.Disabling = by != "", Disabling{}
	if s.Disabled {
		s.Disabling = Disabling{by, now}
	}
	return true
}
