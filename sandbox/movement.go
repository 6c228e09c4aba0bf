package sandbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
)

// A movement is a Movement and what else is remembered of it.
type movement struct {
	Movement
	asked         time.Time
	settles       time.Time // the outcome is pending until then
	refunded      int64     // of a charge, in minor units: what the payer has got back in any way
	nonRefundable bool      // of a charge: it cannot be given back
	fenced        bool      // cancelled before it came
}

// at returns the outcome as it is known at an instant.
func (m *movement) at(now time.Time) traintravel.Outcome {
	if now.Before(m.settles) {
		return traintravel.Outcome{Status: traintravel.Pending}
	}
	return m.Outcome
}

// recordVersion is raised with every change of the record; all earlier versions
// are read. Version 2 knows resolutions, and charges that cannot be given back.
const recordVersion = 2

// A record is a movement in a store, as JSON under its ID. Nothing of the source
// has a place in it.
type record struct {
	Version  int                       `json:"v"`
	Charge   uuid.UUID                 `json:"charge,omitzero"`
	Booking  uuid.UUID                 `json:"booking,omitzero"`
	Amount   int64                     `json:"amount"`
	Currency string                    `json:"currency"`
	Status   traintravel.PaymentStatus `json:"status"`
	Code     string                    `json:"code,omitzero"`
	Message  string                    `json:"message,omitzero"`
	Asked    time.Time                 `json:"asked"`
	Settles  time.Time                 `json:"settles,omitzero"`
	Refunded int64                     `json:"refunded,omitzero"`
	Fenced   bool                      `json:"fenced,omitzero"`

	Resolution    traintravel.Resolution `json:"resolution,omitzero"`
	NonRefundable bool                   `json:"non_refundable,omitzero"`
}

func (m *movement) encode() ([]byte, error) {
	return json.Marshal(record{
		Version: recordVersion, Charge: m.Charge, Booking: m.Booking, Amount: m.Amount.Amount, Currency: m.Amount.Currency,
		Status: m.Outcome.Status, Code: m.Outcome.Failure.Code, Message: m.Outcome.Failure.Message,
		Asked: m.asked.UTC(), Settles: m.settles.UTC(), Refunded: m.refunded, Fenced: m.fenced,
		Resolution: m.Outcome.Resolution, NonRefundable: m.nonRefundable,
	})
}

func decode(id uuid.UUID, b []byte) (*movement, error) {
	var r record
	damaged := func(err error) error { return fmt.Errorf("sandbox: the record of %s is damaged: %w", id, err) }
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, damaged(err)
	}
	if r.Version > recordVersion {
		return nil, fmt.Errorf("sandbox: the record of %s: %w", id, traintravel.ErrNewerData)
	}
	strict := json.NewDecoder(bytes.NewReader(b))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&r); err != nil {
		return nil, damaged(err)
	}
	end := traintravel.Outcome{Status: r.Status, Failure: traintravel.Failure{Code: r.Code, Message: r.Message}, Resolution: r.Resolution}
	if r.Version < 1 || r.Status != traintravel.Succeeded && r.Status != traintravel.Failed || !r.Resolution.Fits(r.Status) {
		return nil, damaged(fmt.Errorf("version %d, status %q, resolution %q", r.Version, r.Status, r.Resolution))
	}
	return &movement{
		Movement: Movement{
			ID: id, Charge: r.Charge, Booking: r.Booking, Amount: traintravel.Money{Amount: r.Amount, Currency: r.Currency},
			Outcome: end,
		},
		asked: r.Asked, settles: r.Settles, refunded: r.Refunded, fenced: r.Fenced, nonRefundable: r.NonRefundable,
	}, nil
}

func key(id uuid.UUID) traintravel.Key {
	return traintravel.Key{Table: traintravel.TableSandbox, ID: string(id[:])}
}

// read returns the movements with these IDs, nil for those there are not.
func read(ctx context.Context, r traintravel.Reader, ids ...uuid.UUID) ([]*movement, error) {
	keys := make([]traintravel.Key, len(ids))
	for i, id := range ids {
		keys[i] = key(id)
	}
	values, err := r.Get(ctx, keys...)
	if err != nil {
		return nil, err
	}
	found := make([]*movement, len(ids))
	for i, v := range values {
		if v == nil {
			continue
		}
		if found[i], err = decode(ids[i], v); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// write puts the movements that are not nil.
func write(tx traintravel.Tx, ms ...*movement) error {
	for _, m := range ms {
		if m == nil {
			continue
		}
		b, err := m.encode()
		if err != nil {
			return err
		}
		tx.Put(key(m.ID), b)
	}
	return nil
}

// list returns all movements in the order in which they were asked for; of those
// of one instant the charges come first.
func list(ctx context.Context, r traintravel.Reader) ([]*movement, error) {
	records, err := r.List(ctx, traintravel.Range{Table: traintravel.TableSandbox})
	if err != nil {
		return nil, err
	}
	all := make([]*movement, len(records))
	for i, rec := range records {
		id, err := uuid.FromBytes([]byte(rec.ID))
		if err != nil {
			return nil, fmt.Errorf("sandbox: a key is not an ID: %w", err)
		}
		if all[i], err = decode(id, rec.Value); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b *movement) int {
		refund := func(m *movement) int { return min(1, bytes.Compare(m.Charge[:], uuid.Nil[:])) }
		return cmp.Or(a.asked.Compare(b.asked), refund(a)-refund(b))
	})
	return all, nil
}
