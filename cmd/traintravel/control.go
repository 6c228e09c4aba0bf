package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/boltstore"
)

// A data file belongs to the process that has it open. Commands that need it
// while a server does ask that server, over a unix socket that only its owner
// may open.

// maxSocketPath is what every system allows for the path of a socket.
const maxSocketPath = 80

// socketPath is where the server of a data file listens: beside the file or,
// where that is too long, in the temporary folder.
func socketPath(data string) (string, error) {
	abs, err := filepath.Abs(data)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	path := abs + ".sock"
	if len(path) > maxSocketPath {
		sum := sha256.Sum256([]byte(abs))
		path = filepath.Join(os.TempDir(), fmt.Sprintf("traintravel-%d-%s.sock", os.Getuid(), hex.EncodeToString(sum[:8])))
	}
	return path, nil
}

// A control is the socket of a data file.
type control struct {
	net.Listener
	path string
}

// listenControl opens the socket of a data file that this process has open.
// What a killed server left there is replaced: the file's lock says that it is
// gone. Nobody else may connect at any moment, so the socket gets its name
// only when its mode is right.
func listenControl(data string) (*control, error) {
	path, err := socketPath(data)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".traintravel")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	hidden := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: hidden, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(hidden, 0o600), os.Rename(hidden, path)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &control{l, path}, nil
}

// Close closes the socket and removes it.
func (c *control) Close() error {
	return errors.Join(c.Listener.Close(), os.Remove(c.path))
}

// An importRequest asks a server to import feeds that it can read itself.
type importRequest struct {
	Feeds   []string
	Options feedOptions
}

// A jobLine is one of an answer: how far it is, or how it ended.
type jobLine[A any] struct {
	Done, Total int64  `json:",omitempty"`
	Text        string `json:",omitempty"`
	Report      *A     `json:",omitempty"`
	Error       string `json:",omitempty"`
	Usage       bool   `json:",omitempty"` // the error is a mistake in the command line
}

// Duties are what a server does for commands that need its data file.
type duties struct {
	load    func(context.Context, []string, feedOptions, func(done, total int64)) (*report, error)
	check   func(context.Context, checkRequest, func(done, total int64)) (*checked, error)
	service *traintravel.Service // for errands
	store   *boltstore.Store
}

// A teller is told how far a job is, and what it finds. Neither function is nil.
type teller struct {
	progress func(done, total int64)
	say      func(text string)
}

// handler answers on the control socket.
func (d duties) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /import", duty(func(ctx context.Context, req importRequest, tell teller) (*report, error) {
		return d.load(ctx, req.Feeds, req.Options, tell.progress)
	}))
	mux.HandleFunc("POST /check", duty(func(ctx context.Context, req checkRequest, tell teller) (*checked, error) {
		return d.check(ctx, req, tell.progress)
	}))
	for name, do := range errands {
		mux.HandleFunc("POST /"+name, duty(func(ctx context.Context, req json.RawMessage, tell teller) (*struct{}, error) {
			return &struct{}{}, do(ctx, d.service, req, tell)
		}))
	}
	mux.HandleFunc("GET /backup", d.backup)
	return mux
}

// duty answers a request with how far the work is and what it finds, line by line, and
// how it ended.
func duty[Q, A any](work func(context.Context, Q, teller) (*A, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// All of it, for only then does the request's context end with its
		// caller. The job takes what it takes.
		var req Q
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = json.Unmarshal(text, &req)
		}
		if err = errors.Join(err, unlimited(w)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out := json.NewEncoder(w)
		var last time.Time
		tell := func(l jobLine[A]) {
			_ = out.Encode(l)
			_ = http.NewResponseController(w).Flush()
		}
		rep, err := work(r.Context(), req, teller{
			progress: func(done, total int64) {
				if done < total && time.Since(last) < 100*time.Millisecond {
					return
				}
				last = time.Now()
				tell(jobLine[A]{Done: done, Total: total})
			},
			say: func(text string) { tell(jobLine[A]{Text: text}) },
		})
		end := jobLine[A]{Report: rep}
		if err != nil {
			end.Error = err.Error()
			_, end.Usage = errors.AsType[usageError](err)
		}
		_ = out.Encode(end)
	}
}

// unlimited lets an answer take what it takes.
func unlimited(w http.ResponseWriter) error {
	conn := http.NewResponseController(w)
	return errors.Join(conn.SetReadDeadline(time.Time{}), conn.SetWriteDeadline(time.Time{}))
}

// backup answers with the file as it is at one instant. It is short of its length if
// it cannot be read to its end.
func (d duties) backup(w http.ResponseWriter, r *http.Request) {
	begun := false
	err := d.store.Snapshot(r.Context(), func(file io.WriterTo, size int64) error {
		if err := unlimited(w); err != nil {
			return err
		}
		begun = true
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		_, err := file.WriteTo(w)
		return err
	})
	switch {
	case err == nil:
	case begun:
		panic(http.ErrAbortHandler)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// errNoServer says that no server has the data file.
var errNoServer = errors.New("no server listens")

// atServer asks the server of a data file for something, and hands its answer to fn.
func atServer(ctx context.Context, data, method, path string, body []byte, fn func(*http.Response) error) error {
	socket, err := socketPath(data)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			c, err := d.DialContext(ctx, "unix", socket)
			if err != nil {
				return nil, errors.Join(errNoServer, err)
			}
			return c, nil
		},
	}}
	defer client.CloseIdleConnections()
	hr, err := http.NewRequestWithContext(ctx, method, "http://server"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := client.Do(hr)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the server answered %s", resp.Status)
	}
	return fn(resp)
}

// askServer has the server of a data file do its duty.
func askServer[Q, A any](ctx context.Context, data, path string, req Q, tell teller) (rep *A, err error) {
	text, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	err = atServer(ctx, data, http.MethodPost, path, text, func(resp *http.Response) error {
		lines := bufio.NewScanner(resp.Body)
		lines.Buffer(nil, 1<<24)
		for lines.Scan() {
			var l jobLine[A]
			if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
				return err
			}
			rep = l.Report
			switch {
			case l.Usage:
				return usageError{errors.New(l.Error)}
			case l.Error != "":
				return errors.New(l.Error)
			case rep != nil:
				return nil
			case l.Text != "":
				tell.say(l.Text)
			default:
				tell.progress(l.Done, l.Total)
			}
		}
		return errors.Join(errors.New("the server broke off"), lines.Err())
	})
	return rep, err
}
