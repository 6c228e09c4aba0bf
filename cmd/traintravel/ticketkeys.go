package main

import (
	"crypto/ecdsa"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/ticket"
)

func (p *program) ticketKeys() *cobra.Command {
	return keysCommand(keysUse{
		name: "ticket-keys", what: "tickets", when: "after servers are restarted",
		long: `List the keys that tickets are signed with: the first signs, all verify.

To change the key, run 'ticket-keys rotate' and restart the servers, all with the same
keys file. Tickets signed by the old key stay valid. When they have all been used, or at
once if the key has leaked, 'ticket-keys remove ID' retires it.

Programs that inspect tickets offline need the new keys, from /.well-known/ticket-keys
of a server, before they see tickets signed with them.`,
		list:   p.listTicketKeys,
		rotate: keys.RotateTickets,
		remove: func(path, id string) error {
			return keys.ChangeTickets(path, func(now []*ecdsa.PrivateKey) ([]*ecdsa.PrivateKey, error) { return without(now, id) })
		},
	})
}

// A keysUse is one that a keys file has for keys, of which the first signs.
type keysUse struct {
	name, what, when, long string
	list, rotate           func(path string) error
	remove                 func(path, id string) error
}

// keysCommand lists, changes and retires keys.
func keysCommand(u keysUse) *cobra.Command {
	var where storage
	var file string
	// in does something to a keys file that is there, and lists what it has then.
	in := func(do func(path string, a []string) error) func(*cobra.Command, []string) error {
		return func(c *cobra.Command, a []string) error {
			if err := where.check(c.Flags()); err != nil {
				return err
			}
			_, path, err := where.ring(file)
			if err != nil {
				return err
			}
			if err := do(path, a); err != nil {
				return err
			}
			return u.list(path)
		}
	}
	c := &cobra.Command{
		Use:   u.name,
		Short: "List, rotate and retire the keys that sign " + u.what,
		Long:  u.long,
		Args:  takes(),
		RunE:  in(func(string, []string) error { return nil }),
	}
	where.flags(c.PersistentFlags())
	keysFlag(c.PersistentFlags(), &file)
	c.AddCommand(&cobra.Command{
		Use:   "rotate",
		Short: "Make a new key, which signs " + u.what + " " + u.when,
		Args:  takes(),
		RunE:  in(func(path string, _ []string) error { return u.rotate(path) }),
	}, &cobra.Command{
		Use:   "remove ID",
		Short: "Retire a key: " + u.what + " signed by it are invalid " + u.when,
		Args:  takes("ID"),
		RunE:  in(func(path string, a []string) error { return u.remove(path, a[0]) }),
	})
	return c
}

func (p *program) listTicketKeys(path string) error {
	set, err := ticketKeysIn(path)
	if err != nil {
		return err
	}
	for n, id := range set.IDs() {
		does := "verifies"
		if n == 0 {
			does = "signs and verifies"
		}
		if _, err := fmt.Fprintf(p.stdout, "%s %s\n", id, does); err != nil {
			return err
		}
	}
	return nil
}

// without is what is left of keys without one of them.
func without(now []*ecdsa.PrivateKey, id string) ([]*ecdsa.PrivateKey, error) {
	set, err := publicTickets(now)
	if err != nil {
		return nil, err
	}
	switch n := slices.Index(set.IDs(), id); n {
	case -1:
		return nil, fmt.Errorf("no key found with the ID %.200q", id)
	case 0:
		return nil, fmt.Errorf("cannot remove %s: it is the key that signs; rotate the keys first", id)
	default:
		return slices.Delete(now, n, n+1), nil
	}
}

// ticketKeysIn are the public keys in a keys file.
func ticketKeysIn(path string) (ticket.Keys, error) {
	ring, err := keys.Load(path)
	if err != nil {
		return ticket.Keys{}, err
	}
	if len(ring.Tickets()) == 0 {
		return ticket.Keys{}, fmt.Errorf("%s has no ticket keys yet: start '%s serve' once, which makes them", path, ourName())
	}
	return publicTickets(ring.Tickets())
}

func publicTickets(private []*ecdsa.PrivateKey) (ticket.Keys, error) {
	return ticket.NewKeys(keys.Public(private)...)
}
