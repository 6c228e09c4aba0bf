package store

import "context"

const (
	pageRecords = 1000    // at most are read at a time
	PageBytes   = 1 << 20 // approximate
)

// EachPage calls fn with the records of a range, at most rg.Limit at a time, and fewer if
// they are large. fn may delete the records that it gets.
func EachPage(ctx context.Context, r Reader, rg Range, fn func([]Record) error) error {
	most := pageRecords
	if rg.Limit > 0 {
		most = min(most, rg.Limit)
	}
	rg.Limit = min(8, most) // until it is known how large they are
	for {
		page, err := r.List(ctx, rg)
		if err != nil || len(page) == 0 {
			return err
		}
		size, n := 0, len(page)
		for _, rec := range page {
			size += len(rec.Value)
		}
		rg.From = page[n-1].ID + "\x00"
		if err := fn(page); err != nil || n < rg.Limit {
			return err
		}
		rg.Limit = max(1, min(2*rg.Limit, n*PageBytes/(size+1), most))
	}
}
