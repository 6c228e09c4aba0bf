package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/signin"
)

// tokensRunOut is how long tokens of a key can be valid after it was rotated out: they live for
// an hour, and servers take a while to notice.
const tokensRunOut = time.Hour + 2*signin.LookEvery

func (p *program) tokenKeys() *cobra.Command {
	return keysCommand(keysUse{
		name: "token-keys", what: "access tokens", when: "within half a minute",
		long: `List the keys of the built-in authorization server: the first signs access tokens.

To change the key, run 'token-keys rotate'. Servers need no restart: they read the file
twice a minute. Tokens signed by the old key stay valid until they expire, within an
hour; then the key is removed. If the key has leaked, 'token-keys remove ID' retires it
at once.

If servers have copies of the file, copy the new one to each of them: until then it
refuses tokens that another server signs with the new key.`,
		list: p.listTokenKeys,
		rotate: func(path string) error {
			now := time.Now()
			return keys.RotateSigning(path, now, now.Add(tokensRunOut))
		},
		remove: func(path, id string) error { return keys.RemoveSigning(path, id, time.Now()) },
	})
}

func (p *program) listTokenKeys(path string) error {
	ring, err := keys.Load(path)
	if err != nil {
		return err
	}
	for _, key := range ring.States(time.Now()) {
		does := "signs and verifies"
		if !key.Until.IsZero() {
			does = "verifies until " + key.Until.Format(time.RFC3339)
		}
		if _, err := fmt.Fprintf(p.stdout, "%s %s\n", key.ID, does); err != nil {
			return err
		}
	}
	return nil
}
