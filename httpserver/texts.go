package httpserver

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"

	"github.com/cespare/xxhash/v2"
)

// A text is the body of an answer that is made once and sent to everybody who asks for
// it. It is not changed.
type text struct {
	contentType []string
	policy      []string // Content-Security-Policy; nil is that of data
	plain       content
	zipped      content // the same, compressed with gzip; its body is nil if there is none
}

// A content is one form of a text, and its ETag.
type content struct {
	body []byte
	tag  string
}

func contentOf(body []byte) content { return content{body, tagOf(body, "")} }

// textOf is a text that is sent as it is.
func textOf(contentType, policy []string, body []byte) *text {
	return &text{contentType: contentType, policy: policy, plain: contentOf(body)}
}

// zip compresses a text for those who can read that.
func (t *text) zip() error {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(t.plain.body); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	t.zipped = contentOf(b.Bytes())
	return nil
}

func unzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// tagOf is the ETag of a body. It is strong: it is of the very bytes, and of
// Sunset, which tells more of a booking than its body does. Whoever contrived two
// bodies with one tag would deceive no one but the reader of both.
func tagOf(body []byte, sunset string) string {
	var h xxhash.Digest
	h.Reset()
	_, _ = h.Write(body) // a hash does not fail
	_, _ = h.WriteString(sunset)
	return `"` + base64.RawURLEncoding.EncodeToString(h.Sum(nil)) + `"`
}
