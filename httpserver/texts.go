package httpserver

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
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

// sendText answers with a text, unless the client has it already. It is kept for all
// answers, so that one more takes no memory.
func (x *exchange) sendText(t *text) error {
	c, zipped := t.plain, false
	if t.zipped.body != nil {
		x.w.Header().Add("Vary", "Accept-Encoding")
		if zipped = x.unzips(); zipped {
			c = t.zipped
		}
	}
	known, err := x.knownAs(c.tag)
	if err != nil {
		return err
	}
	x.policy = t.policy
	if known {
		return x.empty(http.StatusNotModified)
	}
	if zipped {
		x.set("Content-Encoding", "gzip")
	}
	x.shared = c.body
	x.write(http.StatusOK, t.contentType, x.route.cache)
	return nil
}

// unzips says whether the client reads what is compressed with gzip.
func (x *exchange) unzips() bool {
	for _, coding := range readAccept(x.r.Header["Accept-Encoding"]) {
		if coding.name == "gzip" {
			return coding.quality > 0
		}
	}
	return false
}

func unzip(b []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}
