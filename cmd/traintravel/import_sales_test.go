package main

import (
	"strings"
	"testing"
)

// The report shows the prices, currency and seats of the trains, and where each comes from.
func TestImportReportsSales(t *testing.T) {
	t.Parallel()
	feed := writeFeed(t, "1")
	own := writeFeed(t, "1")
	rewrite(t, own, "trips.txt", "route_id,service_id,trip_id,trip_short_name,coaches,fare_base,fare_per_km,fare_currency\nr,d,t,1,1:40,19.00,0.10,chf\nr,d,u,2,1:40 2:60,29.00,0.10,chf\n")
	rewrite(t, own, "stop_times.txt", "trip_id,arrival_time,departure_time,stop_id,stop_sequence\nt,08:00:00,08:00:00,a,1\nt,09:00:00,09:00:00,b,2\nu,08:00:00,08:00:00,a,1\nu,09:00:00,09:00:00,b,2\n")
	flat := writeFeed(t, "1")
	rewrite(t, flat, "fare_attributes.txt", "fare_id,price,currency_type,payment_method,transfers\nf,4.50,EUR,0,0\n")
	for _, c := range []struct {
		args, environ []string
		want          string
	}{
		{[]string{feed}, nil, "  prices of 1 train: 3.00 a ride (default) and 0.12 a kilometre (default), currency eur (default)\n  seats of 1 train: unreserved (default)\n"},
		{[]string{feed, "--fare-base", "5", "--currency", "chf", "--coaches", "1:40 2:60"}, nil,
			"  prices of 1 train: 5.00 a ride (--fare-base) and 0.12 a kilometre (default), currency chf (--currency)\n  seats of 1 train: 100 (--coaches)\n"},
		{[]string{feed}, []string{"TRAINTRAVEL_FARE_PER_KM=0.2"},
			"  prices of 1 train: 3.00 a ride (default) and 0.20 a kilometre (TRAINTRAVEL_FARE_PER_KM), currency eur (default)\n"},
		{[]string{feed, "--fare-base=0", "--fare-per-km=0"}, nil, "  prices of 1 train: 0 (--fare-base), not for sale\n"},
		{[]string{own, "--fare-base", "5", "--coaches", "1:7"}, nil,
			"  prices of 2 trains: 19.00 to 29.00 a ride (feed, trips.txt) and 0.10 a kilometre (feed, trips.txt), currency chf (feed, trips.txt)\n  seats of 2 trains: 40 to 100 (feed, trips.txt)\n"},
		{[]string{flat}, nil, "  prices of 1 train: 4.50 a ride (feed, fare_attributes.txt), currency eur (feed, fare_attributes.txt)\n"},
	} {
		code, out, stderr := once(t, c.environ, append([]string{"import", "--dry-run"}, c.args...)...)
		if code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%v: %d, %s%s, want %s", c.args[1:], code, out, stderr, c.want)
		}
	}
}
