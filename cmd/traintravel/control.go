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
	"time"
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

// An importLine is one line of the answer: how far it is, or how it ended.
type importLine struct {
	Done, Total int64   `json:",omitempty"`
	Report      *report `json:",omitempty"`
	Error       string  `json:",omitempty"`
}

// controlHandler answers on the control socket.
func controlHandler(load func(context.Context, []string, feedOptions, func(done, total int64)) (*report, error), hooks webhookJob) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /import", job(func(ctx context.Context, req importRequest, send func(importLine)) {
		var last time.Time
		rep, err := load(ctx, req.Feeds, req.Options, func(done, total int64) {
			if done < total && time.Since(last) < 100*time.Millisecond {
				return
			}
			last = time.Now()
			send(importLine{Done: done, Total: total})
		})
		end := importLine{Report: rep}
		if err != nil {
			end.Error = err.Error()
		}
		send(end)
	}))
	mux.Handle("POST /webhooks", job(func(ctx context.Context, req webhookRequest, send func(webhookLine)) {
		end := webhookLine{Over: true}
		if err := hooks(ctx, req, func(text string) { send(webhookLine{Text: text}) }); err != nil {
			end.Error = err.Error()
		}
		send(end)
	}))
	return mux
}

// job answers a request with lines, as they come. It takes what it takes, and ends with
// its caller.
func job[Request, Line any](do func(ctx context.Context, req Request, send func(Line))) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		// All of it, for only then does the request's context end with its caller.
		var req Request
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err == nil {
			err = json.Unmarshal(text, &req)
		}
		conn := http.NewResponseController(w)
		if err = errors.Join(err, conn.SetReadDeadline(time.Time{}), conn.SetWriteDeadline(time.Time{})); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out := json.NewEncoder(w)
		do(r.Context(), req, func(l Line) {
			_ = out.Encode(l)
			_ = conn.Flush()
		})
	}
}

// errNoServer says that no server has the data file.
var errNoServer = errors.New("no server listens")

// askImport has the server of a data file import feeds.
func askImport(ctx context.Context, data string, req importRequest, progress func(done, total int64)) (rep *report, err error) {
	err = askServer(ctx, data, "/import", req, func(l importLine) (bool, error) {
		rep = l.Report
		switch {
		case l.Error != "":
			return true, errors.New(l.Error)
		case l.Report == nil:
			progress(l.Done, l.Total)
		}
		return l.Report != nil, nil
	})
	return rep, err
}

// askServer has the server of a data file do something, and gives each line of the
// answer to a function, which says whether it is the last.
func askServer[Line any](ctx context.Context, data, path string, req any, each func(Line) (over bool, err error)) error {
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
	text, err := json.Marshal(req)
	if err != nil {
		return err
	}
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server"+path, bytes.NewReader(text))
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
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var l Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return err
		}
		if over, err := each(l); over || err != nil {
			return err
		}
	}
	return errors.Join(errors.New("the server broke off"), lines.Err())
}
