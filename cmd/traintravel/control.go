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
func controlHandler(load func(context.Context, []string, feedOptions, func(done, total int64)) (*report, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /import", func(w http.ResponseWriter, r *http.Request) {
		// All of it, for only then does the request's context end with its
		// caller. The job takes what it takes.
		var req importRequest
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
		var last time.Time
		rep, err := load(r.Context(), req.Feeds, req.Options, func(done, total int64) {
			if done < total && time.Since(last) < 100*time.Millisecond {
				return
			}
			last = time.Now()
			_ = out.Encode(importLine{Done: done, Total: total})
			_ = conn.Flush()
		})
		end := importLine{Report: rep}
		if err != nil {
			end.Error = err.Error()
		}
		_ = out.Encode(end)
	})
	return mux
}

// errNoServer says that no server has the data file.
var errNoServer = errors.New("no server listens")

// askServer has the server of a data file import feeds.
func askServer(ctx context.Context, data string, req importRequest, progress func(done, total int64)) (*report, error) {
	path, err := socketPath(data)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			c, err := d.DialContext(ctx, "unix", path)
			if err != nil {
				return nil, errors.Join(errNoServer, err)
			}
			return c, nil
		},
	}}
	defer client.CloseIdleConnections()
	text, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	hr, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server/import", bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(hr)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answered %s", resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var l importLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, err
		}
		switch {
		case l.Error != "":
			return l.Report, errors.New(l.Error)
		case l.Report != nil:
			return l.Report, nil
		}
		progress(l.Done, l.Total)
	}
	return nil, errors.Join(errors.New("the server broke off"), lines.Err())
}
