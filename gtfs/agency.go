package gtfs

import (
	"time"

	"github.com/traintravel/traintravel"
)

func (f *feed) readAgencies() error {
	t, err := f.open("agency.txt", "agency_name", "agency_timezone")
	if err != nil {
		return err
	}
	id, name, zone := t.column("agency_id"), t.column("agency_name"), t.column("agency_timezone")
	for t.next() {
		a := agency{id: string(t.get(id)), name: t.text(name), zone: string(t.get(zone))}
		if f.agency(a.id) != nil {
			t.fail("agency_id %.60q occurs twice", a.id)
			continue
		}
		if a.name == "" {
			t.fail("agency_name is missing")
		} else if long(a.name) {
			t.fail("agency_name has more than %d characters", traintravel.MaxText)
		}
		if !f.validZone(a.zone) {
			t.fail("agency_timezone %.60q is not a known time zone", a.zone)
		}
		f.hold(sizeAgency, a.id, a.name, a.zone)
		f.agencyByID[a.id] = int32(len(f.agencies))
		f.agencies = append(f.agencies, a)
		if a.zone != f.agencies[0].zone {
			f.doubt(t.name, t.line(), "agency_timezone differs from that of the first agency, which applies to stations without a time zone")
		}
	}
	if t.err == nil && len(f.agencies) == 0 {
		f.fail(t.name, 0, "the file lists no agency")
		return errMistakes
	}
	return t.err
}

// agency returns the agency of that ID, or nil.
func (f *feed) agency(id string) *agency {
	if i, ok := f.agencyByID[id]; ok {
		return &f.agencies[i]
	}
	return nil
}

// validZone says whether a time zone is known.
func (f *feed) validZone(name string) bool {
	valid, seen := f.knownZones[name]
	if !seen {
		_, err := time.LoadLocation(name)
		valid = err == nil && name != "" && name != "Local"
		f.hold(sizeKey, name)
		f.knownZones[name] = valid
	}
	return valid
}
