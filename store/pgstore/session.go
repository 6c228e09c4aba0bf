package pgstore

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgxpool"
)

// The settings of a session come from the server, the database, the role and the
// URL, in that order. The store must work whatever an administrator has set there
// for other programs, so it sets for itself what it depends on. It does so in one
// statement after it has connected: poolers refuse most parameters at the start.

// A setting is a parameter of a session and its value.
type setting struct{ name, value string }

// idleTimeout is the setting that ends a session whose transaction does not go on.
const idleTimeout = "idle_in_transaction_session_timeout"

// required are the settings that the store overrules even if the URL has others.
var required = []setting{
	{"bytea_output", "hex"},               // the other form takes up to four bytes for one
	{"standard_conforming_strings", "on"}, // the driver quotes for that in simple_protocol
	{"client_encoding", "UTF8"},           // and for that
	{"client_min_messages", "warning"},    // a commit that a standby may lack is told by a warning
	{"default_transaction_isolation", "read committed"},
	{"default_transaction_deferrable", "off"},
}

// preferred are the settings that the URL may have otherwise. The store gives up
// by itself what takes too long; a limit that other programs of the role or the
// database need would end a migration, or an update that waits for its turn.
var preferred = []setting{
	{idleTimeout, "5s"}, // before other servers stop their work
	{"idle_session_timeout", "0"},
	{"lock_timeout", "0"},
	{"statement_timeout", "0"},
	{"transaction_timeout", "0"}, // since PostgreSQL 17
}

// A session is how each connection is set up.
type session struct {
	settings []setting
	// takeLock begins an update. Behind a pooler that gives each transaction
	// another connection, that may be one which the store did not set up: so what
	// keeps updates durable, and others from waiting for one that hangs, is set
	// in the transaction too.
	takeLock string
}

// newSession chooses the settings of a session for the parameters of a URL.
func newSession(url map[string]string) session {
	var s session
	s.settings = append(s.settings, required...)
	local := []setting{{"client_min_messages", "warning"}}
	for _, p := range preferred {
		if _, ok := url[p.name]; ok {
			continue
		}
		s.settings = append(s.settings, p)
		if p.name == idleTimeout {
			local = append(local, p)
		}
	}
	var b strings.Builder
	b.WriteString("select " + waitsForDisk("true"))
	for _, l := range local {
		fmt.Fprintf(&b, ", case when current_setting('%s') <> '%s' then set_config('%[1]s', '%s', true) end", l.name, l.value, l.value)
	}
	b.WriteString(" from traintravel_lock where id = 1 for update")
	s.takeLock = b.String()
	return s
}

// waitsForDisk is the expression that overrules a synchronous_commit that does not.
func waitsForDisk(local string) string {
	return "case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'on', " + local + ") end"
}

// apply sets a connection up. schema, if it is not empty, is where the store's
// tables are.
func (s session) apply(ctx context.Context, c *pgx.Conn, schema string) error {
	c.TypeMap().RegisterType(&pgtype.Type{Name: "bytea", OID: pgtype.ByteaOID, Codec: byteaCodec{}})
	settings := s.settings
	if schema != "" {
		settings = append(settings[:len(settings):len(settings)], setting{"search_path", schema})
	}
	// A parameter that the server does not know has no current setting.
	var b strings.Builder
	b.WriteString("select " + waitsForDisk("false") + ", (select count(set_config(name, value, false)) from (values ")
	for i, set := range settings {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "('%s', '%s')", set.name, strings.ReplaceAll(set.value, "'", "''"))
	}
	b.WriteString(") as wanted (name, value) where current_setting(name, true) <> value)")
	// No arguments, so that the text is the same for any mode and any encoding.
	if _, err := c.Exec(ctx, b.String(), pgx.QueryExecModeExec); err != nil {
		return fmt.Errorf("cannot set the session settings that the store depends on: %w", err)
	}
	return nil
}

// configure has the connections of a pool set up. schema returns where the tables
// are, once that is known.
func (s session) configure(config *pgxpool.Config, schema func() string) {
	config.ConnConfig.OnNotice = func(c *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			c.CustomData()[warned] = n.Message
		}
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error { return s.apply(ctx, c, schema()) }
}

// warned is where a connection keeps the last warning it had.
const warned = "traintravel.warned"

// byteaCodec reads the text of a bytea in either form that bytea_output may have. A
// pooler may lead to a session that the store did not set up.
type byteaCodec struct{ pgtype.ByteaCodec }

// PlanScan implements [pgtype.Codec].
func (c byteaCodec) PlanScan(m *pgtype.Map, oid uint32, format int16, target any) pgtype.ScanPlan {
	plan := c.ByteaCodec.PlanScan(m, oid, format, target)
	if _, ok := target.(*[]byte); ok && format == pgtype.TextFormatCode {
		return byteaText{hex: plan}
	}
	return plan
}

// byteaText reads the text of a bytea.
type byteaText struct{ hex pgtype.ScanPlan }

// Scan implements [pgtype.ScanPlan].
func (p byteaText) Scan(src []byte, target any) error {
	if src == nil || strings.HasPrefix(string(src[:min(2, len(src))]), `\x`) {
		return p.hex.Scan(src, target)
	}
	b, err := unescape(src)
	if err != nil {
		return err
	}
	*target.(*[]byte) = b
	return nil
}

// unescape reads a bytea that is text but for backslashes, which are doubled, and
// for what is not ASCII, which is a backslash and three octal digits.
func unescape(src []byte) ([]byte, error) {
	b := make([]byte, 0, len(src))
	for i := 0; i < len(src); i++ {
		if src[i] != '\\' {
			b = append(b, src[i])
			continue
		}
		rest := src[i+1:]
		switch {
		case len(rest) > 0 && rest[0] == '\\':
			b = append(b, '\\')
			i++
		case len(rest) > 2 && rest[0] >= '0' && rest[0] <= '3' && octal(rest[1]) && octal(rest[2]):
			b = append(b, (rest[0]-'0')<<6|(rest[1]-'0')<<3|(rest[2]-'0'))
			i += 3
		default:
			return nil, fmt.Errorf("a backslash at byte %d of a bytea begins no escape", i)
		}
	}
	return b, nil
}

func octal(c byte) bool { return c >= '0' && c <= '7' }
