package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

func (p *program) subject() *cobra.Command {
	c := &cobra.Command{
		Use:   "subject",
		Short: "Export or erase the data of a person",
		Args:  takes(),
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		p.subjectCommand("export", "Print all data of a user as JSON", `Print all data of a user as JSON: bookings of any status with their payments and refunds,
and webhooks. All bookings are searched.`),
		p.subjectCommand("erase", "Erase the personal data of a user", `Erase the personal data of a user from all bookings that are over, and end the user's
webhooks. Trips, places, prices and payments stay, without a name, an owner or a card, so
that accounts stay correct. Bookings that are still needed are listed: cancel them, or
erase the user again after the journeys.

Erase the data in other places yourself: in backups, at the payment gateway, and at the
receivers of webhooks.`),
	)
	return c
}

func (p *program) subjectCommand(name, short, long string) *cobra.Command {
	var where storage
	var req subjectRequest
	c := &cobra.Command{
		Use: name + " USER", Short: short,
		Long: long + "\n\nUSER is the claim sub of the user's tokens. If a server has the data file open, it does this.",
		Args: takes("USER"),
		RunE: func(c *cobra.Command, a []string) error {
			req.ID = a[0]
			return p.errand(c, where, "subject-"+name, req)
		},
	}
	c.Flags().StringVar(&req.Issuer, "issuer", httpserver.BuiltinIssuer, "`URL` of the authorization server of the user; "+httpserver.BuiltinIssuer+" is the built-in one")
	where.flags(c.Flags())
	jsonFlag(c.Flags(), &req.JSON) // an export is JSON with and without it
	return c
}

type subjectRequest struct {
	Issuer, ID string
	JSON       bool
}

func (q subjectRequest) subject() traintravel.Subject {
	return traintravel.Subject{Issuer: q.Issuer, ID: q.ID}
}

// unknown is the error of a subject without data.
func (q subjectRequest) unknown() error {
	return fmt.Errorf("no data found of the user %.200q of the issuer %.200q: check USER, which is case-sensitive, and --issuer", q.ID, q.Issuer)
}

// onSubjectErase erases a subject.
func onSubjectErase(ctx context.Context, service *traintravel.Service, req subjectRequest, tell teller) error {
	done, err := service.EraseSubject(ctx, req.subject())
	if err == nil && done.Bookings+done.Subscriptions+len(done.Kept)+done.Unreadable == 0 {
		return req.unknown()
	}
	if req.JSON {
		said := sayJSON(tell, object{
			"bookings_erased": done.Bookings, "webhooks_ended": done.Subscriptions, "unreadable": done.Unreadable,
			"bookings_kept": listOf(done.Kept, func(id uuid.UUID) any { return id }),
		})
		return errors.Join(said, interrupted(err), eraseLater(done.Unreadable))
	}
	tell.say(howMany(done.Bookings, "booking", "bookings") + " erased, " + howMany(done.Subscriptions, "webhook", "webhooks") + " ended")
	if err != nil {
		return interrupted(err)
	}
	if len(done.Kept) > 0 {
		tell.say(howMany(len(done.Kept), "booking is", "bookings are") + " still needed for a journey or a payment in progress, and not erased:")
		for _, id := range done.Kept {
			tell.say("  " + id.String())
		}
	}
	return eraseLater(done.Unreadable)
}

// eraseLater is the error of an erasure that could not read all records, nil if it could.
func eraseLater(unread int) error {
	if left := unreadable(unread, ", may belong to the user, and were not erased"); left != "" {
		return errors.New(left + "; erase the user again when they can be read")
	}
	return nil
}

// interrupted is the error of work that can be resumed, nil if err is.
func interrupted(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("interrupted; run the command again to finish: %w", err)
}

// onSubjectExport prints what is known of a subject, with the names of the API.
func onSubjectExport(ctx context.Context, service *traintravel.Service, req subjectRequest, tell teller) error {
	data, err := service.ExportSubject(ctx, req.subject())
	if err != nil {
		return err
	}
	if len(data.Bookings)+len(data.Subscriptions)+data.Unreadable == 0 {
		return req.unknown()
	}
	bookings, hooks := []object{}, []object{}
	for _, h := range data.Bookings {
		bookings = append(bookings, bookingJSON(h))
	}
	for _, s := range data.Subscriptions {
		hooks = append(hooks, object{"id": s.ID, "url": s.URL, "events": s.Events, "client_id": s.Client, "created_at": s.Created})
	}
	all := object{
		"issuer": data.Subject.Issuer, "subject": data.Subject.ID, "exported_at": time.Now().UTC().Truncate(time.Second), "bookings": bookings, "webhooks": hooks,
	}
	if data.Unreadable > 0 {
		all["unreadable"] = data.Unreadable
	}
	err = sayJSON(tell, all)
	if left := unreadable(data.Unreadable, ", may belong to the user, and are not in the export"); left != "" {
		err = cmp.Or(err, errors.New(left))
	}
	return err
}
