package rail

import "time"

// DisabledBy says who disabled a subscription, as spelled in the API.
type DisabledBy string

// Who disabled a subscription.
const (
	// DisabledByOwner: the owner asked for it.
	DisabledByOwner DisabledBy = "owner"
	// DisabledByReceiver: the receiver answered 410, which says that it wants no more.
	DisabledByReceiver DisabledBy = "receiver"
	// DisabledByOperator: the endpoint or the client is no longer among those of
	// WebhookOptions.
	DisabledByOperator DisabledBy = "operator"
	// DisabledByUnknown: a version that did not record it has disabled the subscription.
	DisabledByUnknown DisabledBy = "unknown"
)

// A Disabling says who disabled a subscription, and when. The zero value means that
// the subscription is not disabled.
type Disabling struct {
	By DisabledBy
	At time.Time // zero if it is not known
}

// Reason says in words why the subscription was stopped.
func (d Disabling) Reason() string {
	switch d.By {
	case "":
		return ""
	case DisabledByOwner:
		return "its owner disabled it"
	case DisabledByReceiver:
		return "its receiver answered 410 Gone"
	case DisabledByOperator:
		return "the operator no longer names it"
	}
	return "no record says who disabled it"
}

// Stopped says who has stopped the subscription; nobody if events are posted.
func (s *Subscription) Stopped() Disabling {
	if !s.Disabled && s.Removed {
		return Disabling{By: DisabledByOperator}
	}
	return s.Disabling
}

// Disable stops a subscription unless it is stopped already, or has it go on: then By is
// empty.
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
