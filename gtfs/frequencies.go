package gtfs

// readFrequencies finds the trips that are patterns to be repeated, not trains
// at the times they are written with.
func (f *feed) readFrequencies() error {
	if !f.has("frequencies.txt") {
		return nil
	}
	t, err := f.open("frequencies.txt", "trip_id")
	if err != nil {
		return err
	}
	id := t.column("trip_id")
	for t.next() {
		f.repeated[string(t.get(id))] = true
	}
	return t.err
}
