package gtfs

import "github.com/google/uuid"

// StationID returns the ID of the station with the stop ID stopID in a feed: stopID
// itself if it is a UUID, otherwise a version 5 UUID of the feed's name, a zero
// byte and stopID.
func StationID(feed, stopID string) uuid.UUID {
	if len(stopID) == 36 {
		if id, err := uuid.Parse(stopID); err == nil && id != uuid.Nil {
			return id
		}
	}
	return uuid.NewSHA1(namespace, []byte(feed+"\x00"+stopID))
}

// namespace is that of the version 5 UUIDs of stations.
var namespace = uuid.MustParse("5b0b3c1c-7f2f-4c55-9a3e-3b1f0f6a2d4e")
