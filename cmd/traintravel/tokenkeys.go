package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/internal/signin"
)

// tokensRunOut is how long tokens of a key can be valid after it was rotated out: they live for
// an hour, and servers take a while to notice.
const tokensRunOut = time.Hour + 2*signin.LookEvery

func (p *program) tokenKeys() *cobra.Command {
	return p.keysCommand(keysUse{
		name: "token-keys", what: "access tokens", when: "within half a minute",
		long: `List the keys of the built-in authorization server: the first signs access tokens.

To change the key, run 'token-keys rotate'. Servers need no restart: they read the file
twice a minute. Tokens signed by the old key stay valid until they expire, within an
hour; then the key is removed. If the key has leaked, 'token-keys remove ID' retires it
at once.

If servers have copies of the file, copy the new one to each of them: until then it
refuses tokens that another server signs with the new key.`,
		list: listTokenKeys,
		rotate: func(path string) error {
			now := time.Now()
			return keys.RotateSigning(path, now, now.Add(tokensRunOut))
		},
		remove: func(path, id string) error { return keys.RemoveSigning(path, id, time.Now()) },
	})
}

func listTokenKeys(path string) (listed []listedKey, err error) {
	ring, err := keys.Load(path)
	if err != nil {
		return nil, err
	}
	for _, key := range ring.States(time.Now()) {
		k := listedKey{ID: key.ID, Signs: key.Until.IsZero()}
		if !k.Signs {
			k.Until = &key.Until
		}
		listed = append(listed, k)
	}
	return listed, nil
}
