package httpserver

import (
	"net/http"
	"time"
)

// httpDate writes an instant as headers have it (RFC 9110, section 5.6.7), like
// the format http.TimeFormat, in a fraction of the time.
func httpDate(t time.Time) string {
	const days, months = "SunMonTueWedThuFriSat", "JanFebMarAprMayJunJulAugSepOctNovDec"
	t = t.UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	var a [len(http.TimeFormat)]byte
	b := append(a[:0], days[3*t.Weekday():][:3]...)
	b = append(b, ", "...)
	b = append(b, byte('0'+day/10), byte('0'+day%10), ' ')
	b = append(b, months[3*(month-1):][:3]...)
	b = append(b, ' ', byte('0'+year/1000%10), byte('0'+year/100%10), byte('0'+year/10%10), byte('0'+year%10))
	for i, n := range [...]int{hour, minute, second} {
		b = append(b, " ::"[i], byte('0'+n/10), byte('0'+n%10))
	}
	return string(append(b, " GMT"...))
}
