package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel/ticket"
)

// errInvalidTicket has been reported already.
var errInvalidTicket = errors.New("at least one ticket is not valid")

func (p *program) verifyTicket() *cobra.Command {
	var where storage
	var keysAt, server string
	var asJSON bool
	c := &cobra.Command{
		Use:   "verify-ticket FILE…",
		Short: "Verify tickets and print their contents",
		Long: `Verify the signatures of tickets and print their contents. A FILE is a ticket as PDF, its
Aztec code as a PNG picture, or the bytes of the code.

The keys are those of --keys, or of the server of --server, or of the keys file that
'serve' uses with these flags. Without --server the command works offline, and a ticket
whose booking was cancelled is valid; with it, such a ticket is voided.

The exit code is 0 if all tickets are valid, 1 if one is not or cannot be read, and 2 if
the command line is wrong.`,
		Args: takes("FILE…"), ValidArgsFunction: completeFiles,
		RunE: func(c *cobra.Command, files []string) error {
			if err := where.check(c.Flags()); err != nil {
				return err
			}
			for flag, at := range map[string]string{"--server": server, "--keys": keysAt} {
				if at != "" && (flag == "--server" || strings.Contains(at, "://")) && !isBase(at) {
					return usagef("invalid %s %.200q: want an http or https URL, without a query and without a slash at its end", flag, withoutSecrets(at))
				}
			}
			if keysAt == "" && server != "" {
				keysAt = server + "/.well-known/ticket-keys"
			}
			if keysAt == "" {
				var err error
				if _, keysAt, err = where.ring(""); err != nil {
					return err
				}
			}
			set, err := findTicketKeys(c.Context(), keysAt)
			if err != nil {
				return err
			}
			valid := true
			for _, file := range files {
				for _, v := range verifyFile(c.Context(), file, set, server) {
					valid = valid && v.Status == "valid"
					if err := v.print(p.stdout, asJSON); err != nil {
						return err
					}
				}
			}
			if !valid {
				return errInvalidTicket
			}
			return nil
		},
	}
	c.Flags().StringVar(&keysAt, "keys", "", "keys `file` of a server, or a JWK set in a file or at a URL")
	c.Flags().StringVar(&server, "server", "", "base `URL` of the server that sold the tickets, to look up cancellations")
	c.Flags().BoolVar(&asJSON, "json", false, "print a JSON object on a line for each ticket")
	where.flags(c.Flags())
	return c
}

// A verdict is what is found out about a ticket.
type verdict struct {
	File     string   `json:"file"`
	Attached string   `json:"attached,omitempty"` // name of the file in the file
	Status   string   `json:"status"`             // valid, voided, unknown or invalid
	Reason   string   `json:"reason,omitempty"`
	Says     *saidDoc `json:"ticket,omitempty"`
}

// A saidDoc is what a genuine ticket says, with the names that the API has. Legs
// are counted from one.
type saidDoc struct {
	Booking    uuid.UUID `json:"booking_id"`
	Reference  string    `json:"reference"`
	Leg        int       `json:"leg"`
	Legs       int       `json:"legs"`
	Issued     time.Time `json:"issued"`
	Passenger  string    `json:"passenger_name"`
	HasBicycle bool      `json:"has_bicycle"`
	HasDog     bool      `json:"has_dog"`

	Operator    string    `json:"operator"`
	Train       string    `json:"train,omitempty"`
	Coach       string    `json:"coach,omitempty"`
	Seat        int       `json:"seat,omitempty"`
	Origin      string    `json:"origin"`
	Departure   time.Time `json:"departure_time"`
	Destination string    `json:"destination"`
	Arrival     time.Time `json:"arrival_time"`
}

func said(c ticket.Content) *saidDoc {
	d := saidDoc(c)
	d.Leg++
	return &d
}

// verifyFile finds out about each ticket in a file.
func verifyFile(ctx context.Context, file string, set ticket.Keys, server string) []verdict {
	codes, err := readTickets(file)
	if err != nil {
		var e *fs.PathError
		if errors.As(err, &e) {
			err = e.Err // the file is named anyway
		}
		return []verdict{{File: file, Status: "invalid", Reason: err.Error()}}
	}
	verdicts := make([]verdict, len(codes))
	for i, code := range codes {
		verdicts[i] = verify(ctx, code.container, set, server)
		verdicts[i].File, verdicts[i].Attached = file, code.name
	}
	return verdicts
}

func verify(ctx context.Context, container []byte, set ticket.Keys, server string) verdict {
	content, err := set.Verify(container)
	if err != nil {
		return verdict{Status: "invalid", Reason: err.Error()}
	}
	v := verdict{Status: "valid", Says: said(content)}
	if server == "" {
		return v
	}
	if v.Status, err = worthToServer(ctx, server, container); err != nil {
		v.Status, v.Reason = "unchecked", "it is genuine, but the server cannot be asked: "+err.Error()
	} else {
		v.Reason = map[string]string{
			"voided": "the booking was cancelled", "unknown": "the server does not know the booking", "invalid": "the server does not know the key",
		}[v.Status]
	}
	return v
}

// nameLetters are those of the names that we give to attached files. Others are
// quoted: the author of a PDF chooses them, and they must not look like a verdict.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_"

// line is a text, in one line that changes nothing on a terminal.
func line(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) < 0 {
		return s
	}
	return strconv.Quote(s)
}

// print prints a verdict for people, or as a line of JSON.
func (v verdict) print(w io.Writer, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(w).Encode(v)
	}
	var b strings.Builder
	b.WriteString(line(v.File))
	if v.Attached != "" {
		name := v.Attached
		if strings.Trim(name, nameLetters) != "" {
			name = strconv.Quote(name)
		}
		b.WriteString(", " + name)
	}
	b.WriteString(": " + v.Status)
	if v.Reason != "" {
		b.WriteString(": " + line(v.Reason))
	}
	b.WriteByte('\n')
	if s := v.Says; s != nil {
		const minute = "2006-01-02 15:04 -07:00"
		fmt.Fprintf(&b, "  %s", s.Passenger)
		if s.HasBicycle {
			b.WriteString(", with a bicycle")
		}
		if s.HasDog {
			b.WriteString(", with a dog")
		}
		fmt.Fprintf(&b, "\n  %s  %s\n  %s  %s\n  ", s.Departure.Format(minute), s.Origin, s.Arrival.Format(minute), s.Destination)
		if s.Train != "" {
			b.WriteString(s.Train + ", ")
		}
		b.WriteString(s.Operator)
		if s.Seat != 0 {
			fmt.Fprintf(&b, ", coach %s, seat %d", s.Coach, s.Seat)
		}
		fmt.Fprintf(&b, "\n  leg %d of %d of booking %s, issued %s\n", s.Leg, s.Legs, s.Booking, s.Issued.Format(minute))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// findTicketKeys reads public keys from a keys file, a JWK set in a file, or one at
// an address.
func findTicketKeys(ctx context.Context, at string) (ticket.Keys, error) {
	if strings.Contains(at, "://") {
		text, err := ask(ctx, http.MethodGet, at, nil)
		if err != nil {
			return ticket.Keys{}, fmt.Errorf("cannot get the keys: %w", err)
		}
		return ticket.ParseKeys(text)
	}
	text, err := os.ReadFile(at)
	if errors.Is(err, fs.ErrNotExist) {
		return ticket.Keys{}, noKeysFile(at)
	}
	if err != nil {
		return ticket.Keys{}, err
	}
	var set struct{ Keys json.RawMessage }
	if json.Unmarshal(text, &set) == nil && set.Keys != nil {
		return ticket.ParseKeys(text)
	}
	return ticketKeysIn(at)
}

// worthToServer says what a genuine ticket is worth to the server that has sold it.
func worthToServer(ctx context.Context, server string, container []byte) (string, error) {
	text, err := ask(ctx, http.MethodPost, server+"/tickets/verify", container)
	if err != nil {
		return "", err
	}
	var answer struct{ Status string }
	if err := json.Unmarshal(text, &answer); err != nil || answer.Status == "" {
		return "", errors.New("the server's answer is invalid")
	}
	return answer.Status, nil
}

// ask asks an HTTP server, and takes no answer but 200.
func ask(ctx context.Context, method, at string, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, at, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/octet-stream")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answered %s", at, resp.Status)
	}
	return text, err
}
