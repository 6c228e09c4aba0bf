package pgstore_test

import (
	"context"
	"fmt"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/store/pgstore"
)

// Two hosts, of which the one that takes writes is used: after a failover the
// other.
func Example() {
	ctx := context.Background()
	store, err := pgstore.Open(ctx, "postgres://sales:secret@db1,db2/trains?target_session_attrs=read-write&sslmode=verify-full", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer store.Close()
	service, err := traintravel.New(store, traintravel.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = service.Run(ctx) // on every server
}
