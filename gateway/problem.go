package gateway

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
)

// A problem is an answer that tells no outcome (RFC 9457). Its type is
// problemTypes and the slug.
type problem struct {
	status int
	slug   string
	title  string
	detail string
}

const problemTypes = "urn:traintravel:gateway:"

const problemMediaType = "application/problem+json"

// notFound is the only problem that says something of the money: that none was
// ever asked for under this ID.
const notFound = "not-found"

// cannotCancel says that the gateway has changed nothing, and never cancels.
const cannotCancel = "cancel-not-supported"

func badSignature(detail string) *problem {
	return &problem{http.StatusUnauthorized, "bad-signature", "The signature of the request is missing or invalid", detail}
}

func tooLarge() *problem {
	return &problem{http.StatusRequestEntityTooLarge, "too-large", "The body has more than 64 KiB", ""}
}

func invalid(detail string) *problem {
	return &problem{http.StatusBadRequest, "invalid-request", "The request does not match the description", detail}
}

func noOperation() *problem {
	return &problem{http.StatusNotFound, "no-such-operation", "This operation does not exist", ""}
}

func badMethod(allowed string) *problem {
	return &problem{http.StatusMethodNotAllowed, "method-not-allowed", "The path does not support this method", allowed}
}

func badMediaType() *problem {
	return &problem{http.StatusUnsupportedMediaType, "unsupported-media-type", "The body is not application/json", ""}
}

func unknownID() *problem {
	return &problem{http.StatusNotFound, notFound, "The gateway does not know this charge or refund", ""}
}

func noCancel() *problem {
	return &problem{http.StatusNotImplemented, cannotCancel, "The gateway cannot cancel", ""}
}

func unknownOutcome() *problem {
	return &problem{http.StatusInternalServerError, "unknown-outcome", "The outcome is not known", "Retry with the same ID."}
}

type problemBody struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitzero"`
}

func (p *problem) encode() []byte {
	b, err := json.Marshal(problemBody{problemTypes + p.slug, p.title, p.status, strings.ToValidUTF8(p.detail, "")})
	if err != nil { // texts of ours in UTF-8
		panic(err)
	}
	return b
}

// slugOf returns which of our problems a body is, "" if none.
func slugOf(body []byte) string {
	var p problemBody
	if err := json.Unmarshal(body, &p); err != nil {
		return ""
	}
	slug, ok := strings.CutPrefix(p.Type, problemTypes)
	if !ok || !idForm.MatchString(slug) {
		return ""
	}
	return slug
}
