package gateway

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"github.com/traintravel/traintravel/internal/whsec"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The headers of a signature, with the names that libraries for Standard
// Webhooks look for.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

const (
	// tolerance is how far the clocks of the two sides may differ, the time on
	// the way included.
	tolerance = 5 * time.Minute
	// maxSecrets is how many secrets may be good at a time.
	maxSecrets = 4
	// maxSignatures bounds what a forger may have us compare.
	maxSignatures = 2 * maxSecrets
)

// A ring is the secrets that both sides have.
type ring [][]byte

// parseSecrets reads one secret or several. Its errors quote none.
func parseSecrets(text string) (ring, error) {
	var r ring
	for _, s := range strings.Fields(text) {
		key, err := whsec.Decode(s)
		if err != nil {
			return nil, err
		}
		r = append(r, key)
	}
	if len(r) == 0 {
		return nil, errors.New("is missing")
	}
	if len(r) > maxSecrets {
		return nil, fmt.Errorf("has %d secrets, and may have %d", len(r), maxSecrets)
	}
	return r, nil
}

// mac is the code of what is signed. What says which request it is ("GET
// /outcomes/…") or which answer ("200"), so that neither passes for the other.
func mac(key []byte, id, timestamp, what string, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	for _, part := range []string{id, ".", timestamp, ".", what, "\n"} {
		h.Write([]byte(part))
	}
	h.Write(body)
	return h.Sum(nil)
}

// sign sets the headers of a request or an answer.
func (r ring) sign(h http.Header, id string, now time.Time, what string, body []byte) {
	timestamp := strconv.FormatInt(now.Unix(), 10)
	signatures := make([]string, len(r))
	for i, key := range r {
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac(key, id, timestamp, what, body))
	}
	h.Set(headerID, id)
	h.Set(headerTimestamp, timestamp)
	h.Set(headerSignature, strings.Join(signatures, " "))
}

var (
	idForm        = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	timestampForm = regexp.MustCompile(`^[0-9]{1,12}$`)
)

// verify checks the headers of a request or an answer, and returns the ID that
// was signed.
func (r ring) verify(h http.Header, now time.Time, what string, body []byte) (id string, err error) {
	var values [3]string
	for i, name := range []string{headerID, headerTimestamp, headerSignature} {
		v := h.Values(name)
		if len(v) != 1 {
			return "", fmt.Errorf("the request must have the header %s once", strings.ToLower(name))
		}
		values[i] = v[0]
	}
	id, timestamp, signatures := values[0], values[1], strings.Fields(values[2])
	switch {
	case !idForm.MatchString(id):
		return "", errors.New("webhook-id must have 1 to 64 letters, digits, hyphens and underscores")
	case !timestampForm.MatchString(timestamp):
		return "", errors.New("webhook-timestamp is not a number of seconds since 1970")
	case len(signatures) > maxSignatures:
		return "", fmt.Errorf("webhook-signature has more than %d signatures", maxSignatures)
	}
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return "", err
	}
	if off := now.Sub(time.Unix(seconds, 0)); off > tolerance || off < -tolerance {
		return "", fmt.Errorf("webhook-timestamp is more than %v off: check both clocks", tolerance)
	}
	for _, s := range signatures {
		encoded, ok := strings.CutPrefix(s, "v1,")
		if !ok {
			continue // of a kind that is not known yet
		}
		signature, err := base64.StdEncoding.Strict().DecodeString(encoded)
		if err != nil {
			continue
		}
		for _, key := range r {
			if hmac.Equal(signature, mac(key, id, timestamp, what, body)) {
				return id, nil
			}
		}
	}
	return "", errors.New("webhook-signature has no valid signature: check the secret")
}
