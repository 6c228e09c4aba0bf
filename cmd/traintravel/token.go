package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel/httpserver/authserver"
	"github.com/traintravel/traintravel/internal/signin"
)

func (p *program) token() *cobra.Command {
	var user, scope, file, client string
	var where storage
	var life time.Duration
	var asJSON bool
	c := &cobra.Command{
		Use:   "token --user NAME",
		Short: "Print an access token of the built-in authorization server",
		Long: `Print an access token of the built-in authorization server, like one from a user's
sign-in, and nothing else. The server must have been started once, and may be running.
The command only reads the keys file, which it finds by --data, --postgres or --keys.`,
		Args: takes(),
		RunE: func(c *cobra.Command, _ []string) error {
			if user == "" {
				return usagef("missing --user NAME: name the user of the token")
			}
			if life < time.Second || life > time.Hour {
				return usagef("invalid --ttl %v: want 1s to 1h", life)
			}
			if err := where.check(c.Flags()); err != nil {
				return err
			}
			ring, path, err := where.ring(file)
			if err != nil {
				return err
			}
			if ring.Issuer() == "" {
				return fmt.Errorf("%s does not name the URL of a server yet: start '%s serve' once, without --issuer", path, ourName())
			}
			server, err := signin.Server(ring, authserver.Options{Issuer: ring.Issuer()})
			if err != nil {
				return err
			}
			token, err := server.IssueToken(user, client, strings.Fields(scope), life)
			if err != nil {
				return usageError{err: err}
			}
			if asJSON {
				return p.printJSON(object{"access_token": token, "token_type": "Bearer", "expires_in": int(life.Seconds())})
			}
			_, err = fmt.Fprintln(p.stdout, token)
			return err
		},
	}
	c.Flags().StringVar(&user, "user", "", "`name` of the user")
	c.Flags().StringVar(&scope, "scope", "read write", "`scopes` of the token: read, write or both")
	c.Flags().StringVar(&client, "client", "", "`ID` of the client (default: the demo client)")
	c.Flags().DurationVar(&life, "ttl", time.Hour, "`duration` for which the token is valid, at most 1h")
	where.flags(c.Flags())
	jsonFlag(c.Flags(), &asJSON)
	keysFlag(c.Flags(), &file)
	return c
}
