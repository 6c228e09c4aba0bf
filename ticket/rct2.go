package ticket

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// layout is the content of a block U_TLAY in layout RCT2, which puts texts in a
// grid of 15 rows and 72 columns (ERA TAP TSI, technical document B.6): where they
// are says what they are. Texts are UTF-8, and their lengths count bytes.
func layout(c Content) string {
	var fields strings.Builder
	count := 0
	put := func(row, column, width int, text string) {
		if text = cut(text, width, utf16.RuneLen); text != "" {
			fmt.Fprintf(&fields, "%02d%02d01%02d0%04d%s", row, column, width, len(text), text)
			count++
		}
	}
	train, category := split(c.Train)
	// A ticket is for one train, with or without a seat. Of one that is no
	// reservation, readers do not show the train.
	put(0, 18, 33, "TICKET+RESERVATION")
	put(0, 52, 19, c.Passenger)
	put(3, 1, 48, c.Departure.Format("02.01.2006"))
	put(6, 1, 5, c.Departure.Format("02.01"))
	put(6, 7, 5, c.Departure.Format("15:04"))
	put(6, 13, 17, shorten(c.Origin, 17))
	put(6, 34, 17, shorten(c.Destination, 17))
	put(6, 52, 5, c.Arrival.Format("02.01"))
	put(6, 58, 5, c.Arrival.Format("15:04"))
	put(8, 7, 5, train)
	put(8, 13, 3, category)
	put(8, 26, 3, c.Coach)
	if c.Seat != 0 {
		put(8, 48, 23, fmt.Sprint(c.Seat))
	}
	if c.HasBicycle {
		put(12, 1, 34, "1 BICYCLE")
	}
	if c.HasDog {
		put(12, 36, 35, "1 DOG")
	}
	return fmt.Sprintf("RCT2%04d%s", count, fields.String())
}

// split takes what travellers know a train by into the number and the category
// that RCT2 has five and three columns for: "ICE 123" and "ICE123" into 123 and ICE.
// What does not fit is left out, first the category.
func split(train string) (number, category string) {
	before := strings.TrimRight(train, "0123456789")
	number = train[len(before):]
	category = strings.TrimSpace(before)
	switch {
	case number == "" || len(number) > 5:
		return train, ""
	case utf16len(category) > 3 || strings.ContainsFunc(category, func(r rune) bool { return !unicode.IsLetter(r) }):
		return number, ""
	}
	return number, category
}

func utf16len(text string) int {
	n := 0
	for _, r := range text {
		n += utf16.RuneLen(r)
	}
	return n
}

// shorten makes a station's name fit a width, by the abbreviations that
// timetables use and then by whole words.
func shorten(name string, width int) string {
	if utf16len(name) <= width {
		return name
	}
	name = strings.NewReplacer("Hauptbahnhof", "Hbf", "hauptbahnhof", "hbf", "Bahnhof", "Bf").Replace(name)
	short := cut(name, width, utf16.RuneLen)
	if short == name || name[len(short)] == ' ' {
		return short
	}
	if at := strings.LastIndexByte(short, ' '); at > width/2 {
		return short[:at]
	}
	return short
}
