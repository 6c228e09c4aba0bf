package ticket

import (
	"bytes"
	"fmt"
	"sync"

	"codeberg.org/go-pdf/fpdf"

	"github.com/traintravel/traintravel"
)

const family = "dejavu"

// PDF returns a document with an A4 page for each given leg, counted from zero, or for all
// legs if none is given: with the details of the ride, the Aztec code, and the containers as
// attached files. It is tagged for screen readers. Except for the signatures, it is the same
// each time.
//
// PDF can print the scripts of Europe and most others that are in use. Characters that it
// cannot print, which are in the container nevertheless, are printed as U+FFFD; [Unprintable]
// finds them.
func (i *Issuer) PDF(t traintravel.Ticket, legs ...int) ([]byte, error) {
	legs, err := chosen(t, legs)
	if err != nil {
		return nil, err
	}
	face, err := faceFor(texts(t))
	if err != nil {
		return nil, err
	}
	codes := make([]drawnCode, len(legs))
	var drawing sync.WaitGroup // while the fonts are read
	for n, leg := range legs {
		drawing.Go(func() { codes[n] = i.drawLeg(t, leg, n) }) // fpdf sorts pictures by their width, else they are in any order
	}
	pdf := fpdf.New("P", "mm", "A4", "")
	pdf.SetCatalogSort(true)
	pdf.SetCreationDate(t.Paid.UTC())
	pdf.SetModificationDate(t.Paid.UTC())
	first, last := t.Booking.Legs[legs[0]], t.Booking.Legs[legs[len(legs)-1]]
	pdf.SetTitle(fmt.Sprintf("Train ticket %s – %s, %s", oneLine(first.Origin.Name), oneLine(last.Destination.Name),
		first.Origin.Time.Format(longDay)), true)
	pdf.SetSubject("Booking "+t.Booking.ID.String(), true)
	pdf.SetAuthor(oneLine(operators(t.Booking.Legs)), true)
	pdf.SetCreator("traintravel", true)
	pdf.SetProducer("traintravel", true)
	pdf.SetLang("en")
	pdf.SetMargins(0, 0, 0)
	pdf.SetAutoPageBreak(false, 0)
	pdf.AddUTF8FontFromBytes(family, "", face.regular)
	pdf.AddUTF8FontFromBytes(family, "B", face.bold)

	drawing.Wait()
	var attached []fpdf.Attachment
	others, structure := &scripts{}, &tags{pdf: pdf}
	for n, leg := range legs {
		code := codes[n]
		if code.err != nil {
			return nil, code.err
		}
		name := fmt.Sprintf("ticket-%d", leg+1)
		pdf.RegisterImageOptionsReader(name, fpdf.ImageOptions{ImageType: "PNG"}, bytes.NewReader(code.picture))
		pdf.AddPage()
		page := page{sheet: sheet{pdf, face, others, structure}, t: t, leg: leg, code: name, number: n + 1, pages: len(legs)}
		page.draw()
		attached = append(attached, fpdf.Attachment{
			Content: code.container, Filename: name + ".uic", Description: "UIC 918.3 container",
		})
	}
	pdf.SetAttachments(attached)
	var b bytes.Buffer
	if err := pdf.Output(&b); err != nil {
		return nil, fmt.Errorf("ticket: the PDF: %w", err)
	}
	return structure.add(b.Bytes())
}

// A drawnCode is the code of one leg: its bytes and their picture.
type drawnCode struct {
	container, picture []byte
	err                error
}

// drawLeg makes the code of a leg. A panic in it is an error: it would end the process
// on a goroutine of its own.
func (i *Issuer) drawLeg(t traintravel.Ticket, leg, beyond int) (c drawnCode) {
	defer func() {
		if r := recover(); r != nil {
			c.err = fmt.Errorf("ticket: the code of leg %d: panic: %v", leg+1, r)
		}
	}()
	if c.container, c.err = i.Container(t, leg); c.err == nil {
		c.picture, c.err = i.draw(c.container, beyond)
	}
	return c
}

// texts are all that a document writes of a ticket which may have any letters.
func texts(t traintravel.Ticket) []string {
	all := []string{t.Booking.PassengerName}
	for _, leg := range t.Booking.Legs {
		all = append(all, leg.Operator, leg.Number, leg.Coach, leg.Origin.Name, leg.Destination.Name)
	}
	for _, s := range t.Stations {
		all = append(all, s.Address)
	}
	return all
}
