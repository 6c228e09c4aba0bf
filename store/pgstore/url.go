package pgstore

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/traintravel/traintravel"
)

const noURL = "want a URL such as postgres://user:password@host:5432/database; in a password, percent-encode all but letters, digits and -._~: %20 for a blank, %22 for \", %23 for #, %25 for %, %2F for /, %3A for :, %3F for ?, %40 for @, and so on"

// badURL describes the error of a URL that the driver cannot read, and quotes nothing that
// may be of its password: where that has a character that a URL may not, the driver
// takes a part of it for a host or a port, and shows it.
func badURL(err error) error {
	reason := err.Error()
	if _, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		reason = reason[strings.LastIndex(reason, "`: ")+len("`: "):]
		for _, what := range []string{"failed to parse as", "invalid port"} {
			if strings.HasPrefix(reason, what) {
				reason = noURL
			}
		}
	}
	return fmt.Errorf("pgstore: %w", &traintravel.InvalidError{Field: "url", Reason: reason})
}

// CheckURL returns the [*traintravel.InvalidError] with which Open would refuse an invalid URL.
// It connects to nothing.
func CheckURL(url string) error {
	if _, err := parse(url); err != nil {
		return badURL(err)
	}
	return nil
}

// splitPassword finds a URL in whose password a slash has ended the host, which
// the driver takes for one of a database that has the rest for its name.
func splitPassword(url string, c *pgconn.Config) bool {
	return strings.Contains(url, "://") && strings.Contains(c.Database, "@")
}

// String names the database, without user and password.
func (s *Store) String() string {
	c := s.pool.Config().ConnConfig
	return fmt.Sprintf("PostgreSQL database %s at %s", c.Database, net.JoinHostPort(c.Host, strconv.Itoa(int(c.Port))))
}
