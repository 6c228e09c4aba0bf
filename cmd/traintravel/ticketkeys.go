package main

import (
	"crypto/ecdsa"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel/internal/keys"
	"github.com/traintravel/traintravel/ticket"
)

func (p *program) ticketKeys() *cobra.Command {
	return p.keysCommand(keysUse{
		name: "ticket-keys", what: "tickets", when: "after servers are restarted",
		long: `List the keys that tickets are signed with: the first signs, all verify.

To change the key, run 'ticket-keys rotate' and restart the servers, all with the same
keys file. Tickets signed by the old key stay valid. When they have all been used, or at
once if the key has leaked, 'ticket-keys remove ID' retires it.

Programs that inspect tickets offline need the new keys, from /.well-known/ticket-keys
of a server, before they see tickets signed with them.`,
		list:   listTicketKeys,
		rotate: keys.RotateTickets,
		remove: func(path, id string) error {
			return keys.ChangeTickets(path, func(now []*ecdsa.PrivateKey) ([]*ecdsa.PrivateKey, error) { return without(now, id) })
		},
	})
}

// A keysUse is one that a keys file has for keys, of which the first signs.
type keysUse struct {
	name, what, when, long string
	list                   func(path string) ([]listedKey, error)
	rotate                 func(path string) error
	remove                 func(path, id string) error
}

// A listedKey is a key of a keys file: the first signs.
type listedKey struct {
	ID    string     `json:"id"`
	Signs bool       `json:"signs"`
	Until *time.Time `json:"verifies_until,omitempty"` // nil is for good
}

func (k listedKey) String() string {
	does := "verifies"
	switch {
	case k.Until != nil:
		does += " until " + k.Until.Format(time.RFC3339)
	case k.Signs:
		does = "signs and verifies"
	}
	return k.ID + " " + does
}

// printKeys prints keys.
func (p *program) printKeys(listed []listedKey, asJSON bool) error {
	if asJSON {
		return p.printJSON(object{"keys": listed})
	}
	for _, key := range listed {
		if _, err := fmt.Fprintln(p.stdout, key); err != nil {
			return err
		}
	}
	return nil
}

// keysCommand lists, changes and retires keys.
func (p *program) keysCommand(u keysUse) *cobra.Command {
	var where storage
	var file string
	var asJSON bool
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
			listed, err := u.list(path)
			if err != nil {
				return err
			}
			return p.printKeys(listed, asJSON)
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
	jsonFlag(c.PersistentFlags(), &asJSON)
	c.AddCommand(&cobra.Command{
		Use:   "rotate",
		Short: "Make a new key, which signs " + u.what + " " + u.when,
		Args:  takes(),
		RunE:  in(func(path string, _ []string) error { return u.rotate(path) }),
	}, &cobra.Command{
		Use:   "remove ID",
		Short: "Retire a key: " + u.what + " signed by it are invalid " + u.when,
		Args:  takes("ID"),
		ValidArgsFunction: func(c *cobra.Command, given []string, _ string) (ids []cobra.Completion, _ cobra.ShellCompDirective) {
			_ = p.settle(c) // what is wrong in it, a call would say
			if _, path, err := where.ring(file); err == nil && len(given) == 0 {
				listed, _ := u.list(path)
				for _, key := range listed {
					ids = append(ids, key.ID)
				}
			}
			return ids, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: in(func(path string, a []string) error { return u.remove(path, a[0]) }),
	})
	return c
}

func listTicketKeys(path string) (listed []listedKey, err error) {
	set, err := ticketKeysIn(path)
	if err != nil {
		return nil, err
	}
	for n, id := range set.IDs() {
		listed = append(listed, listedKey{ID: id, Signs: n == 0})
	}
	return listed, nil
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
