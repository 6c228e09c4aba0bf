package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

// errNoServer is returned if no server has the data file open.
var errNoServer = errors.New("no server has the data file open")

// An asker asks the server of a data file.
type asker struct {
	data string
	warn io.Writer // gets a message while the server is silent
	// How long the server may be silent before the first message and between messages, and
	// how long the command waits for the beginning of an answer.
	soon, again, longest time.Duration
}

func (p *program) asker(data string) asker {
	return asker{data: data, warn: p.stderr, soon: 5 * time.Second, again: time.Minute, longest: time.Minute}
}

// dial connects to the server, if it is one that may have the data file.
func (a asker) dial(ctx context.Context) (conn net.Conn, who peer, err error) {
	socket, err := socketPath(a.data)
	if err != nil {
		return nil, who, err
	}
	err = withShort(socket, func(short string) (err error) {
		conn, err = (&net.Dialer{}).DialContext(ctx, "unix", short)
		return err
	})
	switch {
	case err == nil:
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED), errors.Is(err, syscall.ENOTDIR), runtime.GOOS == "windows":
		return nil, who, errors.Join(errNoServer, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, who, fmt.Errorf("the socket %s belongs to another user: run this command as the user of the server: %w", socket, err)
	default:
		return nil, who, fmt.Errorf("the server at %s accepts no requests; it may be stopped (SIGSTOP): %w", socket, err)
	}
	who, known, err := peerOf(conn)
	if err == nil && known && !who.mayServe(a.data) {
		err = fmt.Errorf("refused to connect to %s: %s listens there, which does not own the data file", socket, who)
	}
	if err != nil {
		return nil, who, errors.Join(err, conn.Close())
	}
	return conn, who, nil
}

// refuseLost returns an error if the data file is missing while a server still has it open:
// its data can be saved through that server's socket alone, so no other server may begin a
// new file.
func (a asker) refuseLost(ctx context.Context) error {
	if exists(a.data) {
		return nil
	}
	conn, who, err := a.dial(ctx)
	if errors.Is(err, errNoServer) {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(fmt.Errorf("the data file %s was moved or removed, but a server, %s, still has it open: move the file back; or save the data with '%[3]s backup FILE --data %[4]s', stop that server, and run '%[3]s restore FILE --data %[4]s'",
		a.data, who, ourName(), shellWord(a.data)), conn.Close())
}

// listens returns nil if a server has the data file open and this process may send it requests,
// and [errNoServer] if no server has it open.
func (a asker) listens(ctx context.Context) error {
	conn, _, err := a.dial(ctx)
	if err != nil {
		return err
	}
	return conn.Close()
}

// do asks the server of a data file for something, and hands its answer to fn.
func (a asker) do(ctx context.Context, method, path string, body []byte, fn func(*http.Response) error) error {
	return a.send(ctx, method, path, body, nil, fn)
}

// send is do with a body in two parts, of which the second may be large. It is sent when the
// server has asked for it.
func (a asker) send(ctx context.Context, method, path string, body, more []byte, fn func(*http.Response) error) error {
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	conn, who, err := a.dial(ctx)
	if err != nil {
		return err
	}
	s := newSilence(a, who)
	defer s.end()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, ExpectContinueTimeout: a.longest,
		DialContext: func(context.Context, string, string) (net.Conn, error) { return conn, nil },
	}}
	defer conn.Close()
	late := time.AfterFunc(a.longest, func() {
		giveUp(fmt.Errorf("timeout: the server, %s, has not answered for %v; it may be stopped (SIGSTOP), and may still carry out the request when it continues", who, a.longest))
	})
	defer late.Stop()
	hr, err := http.NewRequestWithContext(ctx, method, "http://server"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	if len(more) > 0 {
		hr.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), bytes.NewReader(more)))
		hr.ContentLength, hr.GetBody = int64(len(body)+len(more)), nil
		hr.Header.Set("Expect", "100-continue")
	}
	resp, err := client.Do(hr)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	late.Stop()
	defer resp.Body.Close()
	resp.Body = s.heard(resp.Body)
	if resp.StatusCode == http.StatusNotFound {
		return fmt.Errorf("the server, %s, does not know this request because it runs another version: restart it with the version of this command", who)
	}
	if resp.StatusCode != http.StatusOK {
		why, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return fmt.Errorf("the server answered %s: %s", resp.Status, bytes.TrimSpace(why))
	}
	return fn(resp)
}

// askServer sends a request to the server of a data file, and reads its report.
func askServer[Q, A any](ctx context.Context, a asker, path string, req Q, tell teller) (rep *A, err error) {
	text, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	err = a.do(ctx, http.MethodPost, path, text, func(resp *http.Response) (err error) {
		rep, err = readJob[A](resp, tell)
		return err
	})
	return rep, err
}

// readJob reads an answer, line by line.
func readJob[A any](resp *http.Response, tell teller) (*A, error) {
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var l jobLine[A]
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, err
		}
		switch {
		case l.Usage:
			return l.Report, usageError{err: errors.New(l.Error)}
		case l.Error != "":
			return l.Report, errors.New(l.Error)
		case l.Report != nil:
			return l.Report, nil
		case l.Text != "":
			tell.say(l.Text)
		case l.Done != 0 || l.Total != 0:
			tell.progress(l.Done, l.Total)
		}
	}
	return nil, errors.Join(errors.New("the server closed the connection before the work was finished"), lines.Err())
}

// A silence warns while the server sends nothing.
type silence struct {
	a     asker
	who   peer
	timer *time.Timer
	since atomic.Pointer[time.Time]
}

func newSilence(a asker, who peer) *silence {
	s := &silence{a: a, who: who}
	now := time.Now()
	s.since.Store(&now)
	s.timer = time.AfterFunc(time.Hour, func() { // not before s.timer is set
		fmt.Fprintf(a.warn, "still waiting: no answer from the server, %s, for %v\n", s.who, time.Since(*s.since.Load()).Round(time.Second))
		s.timer.Reset(a.again)
	})
	s.timer.Reset(a.soon)
	return s
}

func (s *silence) end() { s.timer.Stop() }

// heard is what is read from the server; each byte breaks the silence.
func (s *silence) heard(body io.ReadCloser) io.ReadCloser {
	s.broken()
	return struct {
		io.Reader
		io.Closer
	}{readerFunc(func(b []byte) (int, error) {
		n, err := body.Read(b)
		s.broken()
		return n, err
	}), body}
}

func (s *silence) broken() {
	now := time.Now()
	s.since.Store(&now)
	s.timer.Reset(s.a.soon)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }
