package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel/httpserver/authserver"
)

func (p *program) token() *cobra.Command {
	var user, scope, file, client string
	var where storage
	var life time.Duration
	c := &cobra.Command{
		Use:   "token --user NAME",
		Short: "Print an access token of the built-in authorization server",
		Long: `Print an access token of the built-in authorization server, as a user's sign-in
would have made it, and nothing else. The server may be running; it must have
run once. It only needs the keys file, which --data or --postgres tell where to
find.`,
		Args: args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if user == "" {
				return usagef("--user: say whose token it is to be")
			}
			if err := where.check(c.Flags()); err != nil {
				return err
			}
			ring, path, err := where.ring(file)
			if err != nil {
				return err
			}
			if ring.Issuer() == "" {
				return fmt.Errorf("%s does not say where the server is: start '%s serve' once, without --issuer", path, ourName())
			}
			server, err := builtin(ring, authserver.Options{Issuer: ring.Issuer()})
			if err != nil {
				return err
			}
			token, err := server.IssueToken(user, client, strings.Fields(scope), life)
			if err != nil {
				return usageError{err}
			}
			_, err = fmt.Fprintln(p.stdout, token)
			return err
		},
	}
	c.Flags().StringVar(&user, "user", "", "`name` of the user")
	c.Flags().StringVar(&scope, "scope", "read write", "what it allows")
	c.Flags().StringVar(&client, "client", "", "`ID` of the client (default the demo client)")
	c.Flags().DurationVar(&life, "ttl", time.Hour, "how long it is good, at most an hour")
	where.flags(c.Flags())
	keysFlag(c.Flags(), &file)
	return c
}
