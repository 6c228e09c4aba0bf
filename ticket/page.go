package ticket

import (
	"strconv"
	"strings"

	"github.com/traintravel/traintravel"
)

const (
	longDay  = "Monday, 2 January 2006"
	shortDay = "Mon 2 January 2006"
	hours    = "15:04"
)

var (
	brand  = colour{11, 93, 83} // that of the example site
	pale   = colour{229, 240, 236}
	ink    = colour{24, 32, 40}
	quiet  = colour{98, 110, 121}
	faint  = colour{208, 216, 222}
	white  = colour{255, 255, 255}
	bright = colour{188, 222, 213}
)

// Where things are.
const (
	pageWidth  = 210.0
	pageHeight = 297.0
	margin     = 17.0
	inner      = pageWidth - 2*margin
	band       = 27.0 // at the top
	codeSize   = 66.0 // with its border
	gutter     = 9.0
	column     = inner - codeSize - gutter // left of the code
	clockWidth = 32.0
)

// A page is the ticket of one leg.
type page struct {
	sheet
	t      traintravel.Ticket
	leg    int
	code   string // the name of its picture
	number int    // of the page
	pages  int
}

func (p *page) ride() traintravel.Leg { return p.t.Booking.Legs[p.leg] }

func (p *page) draw() {
	p.tags.begin()
	defer p.tags.end()
	p.head()
	y := max(p.route(band+13), p.aztec(band+13))
	y = p.place(y + 9)
	y = p.details(y + 11)
	p.journey(y + 12)
	p.foot()
}

// head is the band with what this is.
func (p *page) head() {
	p.fill(brand)
	p.pdf.Rect(0, 0, pageWidth, band, "F")
	half := inner / 2
	p.write(margin, 9, half, style{bold: true, size: 21, ink: white, role: "H1"}, "Train ticket")
	p.write(margin+half, 7, half, style{size: 8, ink: bright, right: true}, "Booking reference")
	size := 21.0
	if p.t.Booking.Reference == "" { // then it is long
		size = 13
	}
	p.write(margin+half, 12.4, half, style{bold: true, size: size, ink: white, right: true}, ReferenceOf(p.t.Booking))
}

// route is when and from where to where.
func (p *page) route(y float64) float64 {
	leg := p.ride()
	day := leg.Origin.Time.Format(longDay)
	if n := len(p.t.Booking.Legs); n > 1 {
		p.write(margin, y, column, style{bold: true, size: 9, ink: brand}, "Train "+strconv.Itoa(p.leg+1)+" of "+strconv.Itoa(n))
		y += 6
	}
	from := p.write(margin, y, column, style{bold: true, size: 14, least: 10, ink: ink}, day) + 11
	y = p.stop(from, leg.Origin, false)
	// The other end is as low as the code if there is room between them.
	train := trainName(leg) + " · " + duration(leg.Destination.Time.Sub(leg.Origin.Time))
	as := style{size: 10, least: 7, lines: 3, ink: quiet}
	high := p.height(column-clockWidth, as, train)
	to := max(y+high+12, band+13+codeSize-17)
	p.write(margin+clockWidth, (y+to-high)/2, column-clockWidth, as, train)
	y = p.stop(to, leg.Destination, !sameDay(leg.Origin.Time, leg.Destination.Time))

	x := margin + clockWidth - 6
	top, bottom := from+2.6, to+2.6
	p.pdf.SetDrawColor(brand.r, brand.g, brand.b)
	p.pdf.SetLineWidth(0.9)
	p.pdf.Line(x, top, x, bottom)
	p.fill(white)
	p.pdf.Circle(x, top, 1.7, "FD")
	p.fill(brand)
	p.pdf.Circle(x, bottom, 1.7, "FD")
	return y
}

// stop is one end of the ride: what the clock shows there, and where it is.
func (p *page) stop(y float64, s traintravel.Stop, otherDay bool) float64 {
	const w = clockWidth - 9
	at := p.write(margin, y, w, style{bold: true, size: 21, ink: ink}, s.Time.Format(hours)) + 2.2
	if otherDay {
		at = p.write(margin, at, w, style{bold: true, size: 8, least: 6, ink: brand}, s.Time.Format("Mon 2 Jan")) + 1.8
	}
	at = p.write(margin, at, w, style{size: 7, least: 5, lines: 2, ink: quiet}, clock(s.Time))

	x, room := margin+clockWidth, column-clockWidth
	end := p.write(x, y, room, style{bold: true, size: 16, least: 8, lines: 4, ink: ink}, s.Name)
	if known, ok := p.t.Stations[s.Station]; ok {
		if place := addressOf(known); place != "" {
			end = p.write(x, end+2.4, room, style{size: 8, least: 6.5, lines: 3, ink: quiet}, place)
		}
	}
	return max(at, end)
}

// address is where a station is.
func addressOf(s traintravel.Station) string {
	if s.Address == "" || s.Country == "" || s.Country == traintravel.UnknownCountry {
		return s.Address
	}
	return s.Address + ", " + s.Country
}

// aztec draws the code.
func (p *page) aztec(y float64) float64 {
	x := pageWidth - margin - codeSize
	p.tags.around(tag{role: "Figure", alt: "Aztec code of the ticket, which inspectors scan"}, func() {
		p.pdf.Image(p.code, x, y, codeSize, codeSize, false, "PNG", 0, "")
	})
	p.pdf.SetDrawColor(faint.r, faint.g, faint.b)
	p.pdf.SetLineWidth(0.25)
	p.pdf.RoundedRect(x, y, codeSize, codeSize, 2, "1234", "D")
	return p.write(x, y+codeSize+3, codeSize, style{size: 8, ink: quiet}, "Show this code on paper or on a screen.")
}

// place draws the train and the seat.
func (p *page) place(y float64) float64 {
	const height, pad = 25.0, 6.0
	leg := p.ride()
	p.fill(pale)
	p.pdf.RoundedRect(margin, y, inner, height, 2.5, "1234", "F")
	cell := func(x, w float64, label, value string) {
		p.write(x+pad, y+pad-0.5, w-pad, style{size: 8, ink: quiet}, label)
		p.write(x+pad, y+pad+5, w-pad-2, style{bold: true, size: 23, least: 7, lines: 3, high: height - pad - 8.5, ink: brand}, value)
	}
	wide := inner * 0.5
	cell(margin, wide, "Train", trainName(leg))
	if leg.Seat > 0 {
		cell(margin+wide, inner*0.25, "Coach", leg.Coach)
		cell(margin+inner*0.75, inner*0.25, "Seat", strconv.Itoa(leg.Seat))
	} else {
		cell(margin+wide, inner*0.5, "Seat", "Any free seat")
	}
	return y + height
}

// details draws the passenger, the price, the operator and the extras.
func (p *page) details(y float64) float64 {
	b := &p.t.Booking
	label := style{size: 8, ink: quiet}
	value := style{bold: true, size: 12, least: 7.5, lines: 3, ink: ink}
	name := value
	name.lines = 6
	left, right := margin, margin+inner*0.58
	wide, narrow := inner*0.58-6, inner*0.42
	item := func(x, y, w float64, what string, as style, text string) float64 {
		p.write(x, y, w, label, what)
		return p.write(x, y+5, w, as, text)
	}
	price := strings.ToUpper(b.Price.Currency) + " " + money(b.Price)
	if len(b.Legs) > 1 {
		price += " for all " + strconv.Itoa(len(b.Legs)) + " trains"
	}
	y = max(item(left, y, wide, "Passenger", name, b.PassengerName), item(right, y, narrow, "Price", value, price)) + 8
	end := item(left, y, wide, "Operator", value, p.ride().Operator)
	if with := extras(*b); with != "" {
		end = max(end, item(right, y, narrow, "Travelling with", value, with))
	}
	return end
}

// money formats an amount with all its decimals.
func money(m traintravel.Money) string {
	digits, _, _ := strings.Cut(m.String(), " ")
	return digits
}

// journey lists the trains of a trip with several.
func (p *page) journey(y float64) {
	b := &p.t.Booking
	if len(b.Legs) < 2 {
		return
	}
	p.rule(margin, y, inner, faint)
	y = p.write(margin, y+6, inner, style{bold: true, size: 9, ink: brand, role: "H2"}, "Your journey") + 5
	for i, leg := range b.Legs {
		as := style{size: 9, least: 6, lines: 2, ink: quiet}
		if i == p.leg {
			as.ink = ink
			p.fill(brand)
			p.pdf.Circle(margin+0.9, y+1.2, 0.9, "F")
		}
		once := as
		once.lines = 1
		x, top := margin+4, y
		for _, c := range []struct {
			width float64
			as    style
			text  string
		}{
			{21, once, leg.Origin.Time.Format("Mon 2 Jan")},
			{28, once, leg.Origin.Time.Format(hours) + " – " + leg.Destination.Time.Format(hours)},
			{63, as, leg.Origin.Name + " – " + leg.Destination.Name},
			{25, as, trainName(leg)},
			{35, as, seatOf(leg)},
		} {
			y = max(y, p.write(x, top, c.width-2, c.as, c.text))
			x += c.width
		}
		y += 4
	}
}

// seatOf describes a leg's seat briefly.
func seatOf(leg traintravel.Leg) string {
	if leg.Seat == 0 {
		return "any free seat"
	}
	return "coach " + leg.Coach + ", seat " + strconv.Itoa(leg.Seat)
}

// foot draws the conditions, the booking's ID and the page number.
func (p *page) foot() {
	const y = pageHeight - 21
	p.rule(margin, y, inner, faint)
	small := style{size: 7.5, ink: quiet}
	p.write(margin, y+4.5, inner-30, small, "Valid for the named passenger, on the train shown. Times are local times at the station.")
	if terms := oneLine(p.t.RefundTerms); terms != "" {
		more := small
		more.least, more.lines = 6, 3
		p.write(margin, y-5-p.height(inner, more, terms), inner, more, terms)
	}
	p.write(margin, y+8.5, inner-30, small, "Paid on "+p.t.Paid.UTC().Format("2 January 2006")+". Booking "+p.t.Booking.ID.String())
	if p.pages > 1 {
		small.right = true
		p.write(pageWidth-margin-28, y+4.5, 28, small, "Page "+strconv.Itoa(p.number)+" of "+strconv.Itoa(p.pages))
	}
}
