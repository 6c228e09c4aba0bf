package httpserver

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/traintravel/traintravel/internal/fair"
)

// firstBytes is how much of a body there is room for before any of it has come.
const firstBytes = 2 << 10

// receive reads a body of at most maxBody bytes, and as long as its length says, into
// to. Room is made as the bytes come, so that a body that never comes takes none. What is
// no longer needed is cleared: it may hold the number of a card.
//
// After an error the deadline stays: before net/http answers, it waits for the rest of a
// body whose length it was told, and would do so for ever.
//
// Its errors are those of reading, such as os.ErrDeadlineExceeded and
// [http.MaxBytesError], and problemUnfinished.
func (h *house) receive(w http.ResponseWriter, r *http.Request, who fair.Caller, size int, to *[]byte) error {
	control := http.NewResponseController(w)
	deadline := control.SetReadDeadline(due(bodyAtLeast, bodyPerSecond, size)) == nil
	taken := 0
	defer func() { h.bodies.Give(who, int64(taken)) }()
	body := http.MaxBytesReader(w, r.Body, maxBody)
	in := make([]byte, 0, min(size+1, firstBytes))
	defer func() { *to = in }()
	for {
		n, err := body.Read(in[len(in):cap(in)])
		in = in[:len(in)+n]
		switch {
		case errors.Is(err, io.EOF):
			if deadline { // or the request would end with it
				_ = control.SetReadDeadline(time.Time{})
			}
			return nil
		case err != nil:
			return err
		case len(in) == cap(in):
			more := min(2*cap(in), maxBody+1) - cap(in)
			if !h.bodies.Take(who, int64(more)) {
				return problemUnfinished
			}
			taken += more
			old := in
			in = append(make([]byte, 0, cap(old)+more), old...)
			clear(old)
		}
	}
}

const maxBody = 64 << 10 // bytes
