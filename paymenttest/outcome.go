package paymenttest

import (
	"fmt"

	"github.com/traintravel/traintravel"
)

// sane says what is wrong with an outcome as such.
func sane(out traintravel.Outcome) error {
	switch out.Status {
	case traintravel.Pending, traintravel.Succeeded:
		if out.Failure != (traintravel.Failure{}) {
			return fmt.Errorf("an outcome that is not a failure has one: %s", told(out))
		}
	case traintravel.Failed:
		if out.Failure.Code == "" || out.Failure.Message == "" {
			return fmt.Errorf("a failure needs a code, and a message for the payer: %s", told(out))
		}
	default:
		return fmt.Errorf("%q is not a status", out.Status)
	}
	if !out.Resolution.Fits(out.Status) {
		return fmt.Errorf("the resolution does not go with the status: %s", told(out))
	}
	return nil
}

func told(out traintravel.Outcome) string {
	status := string(out.Status)
	if out.Resolution != "" {
		status += ", " + string(out.Resolution)
	}
	if out.Failure == (traintravel.Failure{}) {
		return status
	}
	return fmt.Sprintf("%s (code %q, %q)", status, out.Failure.Code, out.Failure.Message)
}

// refuses returns an error if an answer is not what it must be to something
// that must not be done: an error, or Failed.
func refuses(what string, out traintravel.Outcome, err error) error {
	if err != nil || out.Status == traintravel.Failed {
		return nil
	}
	return fmt.Errorf("%s: the outcome is %s, not an error or failed", what, told(out))
}

var errNotFound = wrong("Lookup must wrap ErrNotFound for what the gateway was never asked")

// wrong is fmt.Errorf, for messages that begin with a method's name.
func wrong(format string, args ...any) error { return fmt.Errorf(format, args...) }
