package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"sync"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/aztec"
	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"

	"github.com/traintravel/traintravel/ticket"
)

const (
	maxTicketFile = 16 << 20 // bytes
	maxPixels     = 16 << 20
	// maxUnpacked bounds each part of a PDF, compressed as it may be, in bytes.
	maxUnpacked = 8 << 20
)

// A ticketCode is a container, and where in a file it is.
type ticketCode struct {
	name      string // of an attached file; empty if the file holds one ticket
	container []byte
}

// readTickets takes the containers out of a file: a PDF, a picture in PNG, or one
// container as it is. They are not verified.
func readTickets(path string) ([]ticketCode, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxTicketFile+1))
	switch {
	case err != nil:
		return nil, err
	case len(content) > maxTicketFile:
		return nil, fmt.Errorf("the file is larger than %d MiB", maxTicketFile>>20)
	case bytes.HasPrefix(content, []byte("%PDF-")):
		return attachedTickets(content)
	case bytes.HasPrefix(content, []byte("\x89PNG\r\n\x1a\n")):
		code, err := scanAztec(content)
		return []ticketCode{{container: code}}, err
	}
	return []ticketCode{{container: content}}, nil
}

// noFiles keeps the PDF library from making files of its own in the user's folders,
// once: it has it in a variable.
var noFiles = sync.OnceFunc(api.DisableConfigDir)

// attachedTickets are the containers that are attached to a PDF.
func attachedTickets(content []byte) (codes []ticketCode, err error) {
	noFiles()
	defer func() {
		if r := recover(); r != nil { // the library panics on some invalid PDFs
			codes, err = nil, fmt.Errorf("the PDF cannot be read: %v", r)
		}
	}()
	conf := model.NewDefaultConfiguration()
	conf.Cmd = model.EXTRACTATTACHMENTS
	conf.Limits.MaxDecodeBytes = maxUnpacked
	ctx, err := api.ReadAndValidate(bytes.NewReader(content), conf)
	if err != nil {
		return nil, fmt.Errorf("the PDF cannot be read: %w", err)
	}
	unpack(ctx)
	attached, err := ctx.ExtractAttachments(nil)
	if err != nil {
		return nil, fmt.Errorf("the PDF cannot be read: %w", err)
	}
	for _, a := range attached {
		container, err := io.ReadAll(io.LimitReader(a, ticket.MaxSize+1))
		if err != nil {
			return nil, fmt.Errorf("the PDF cannot be read: %w", err)
		}
		if bytes.HasPrefix(container, []byte("#UT")) {
			codes = append(codes, ticketCode{a.FileName, container})
		}
	}
	if len(codes) == 0 {
		return nil, errors.New("the PDF has no ticket attached, perhaps because it was printed again: try a picture of its code")
	}
	return codes, nil
}

// unpack decompresses what may be a ticket and empties all else, which the library
// would decompress whatever its size.
func unpack(ctx *model.Context) {
	for _, entry := range ctx.Table {
		stream, ok := entry.Object.(types.StreamDict)
		if !ok {
			continue
		}
		if err := stream.DecodeWithLimit(ticket.MaxSize); err != nil || len(stream.Content) > ticket.MaxSize {
			stream.Content = []byte{}
		}
		entry.Object = stream
	}
}

// scanAztec reads the bytes of the Aztec code on a picture.
func scanAztec(content []byte) ([]byte, error) {
	size, err := png.DecodeConfig(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be read: %w", err)
	}
	if size.Width*size.Height > maxPixels {
		return nil, fmt.Errorf("the picture has %d by %d pixels, more than %d together", size.Width, size.Height, maxPixels)
	}
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("the picture cannot be read: %w", err)
	}
	code, err := scan(picture)
	if err != nil {
		return nil, errors.New("no readable Aztec code in the picture")
	}
	return code, nil
}

// scan reads the bytes of a code, each of which is a character of ISO 8859-1.
func scan(picture image.Image) ([]byte, error) {
	bitmap, err := gozxing.NewBinaryBitmapFromImage(picture)
	if err != nil {
		return nil, err
	}
	result, err := aztec.NewAztecReader().Decode(bitmap, nil)
	if err != nil {
		return nil, err
	}
	var code []byte
	for _, r := range result.GetText() {
		if r > 0xff {
			return nil, errors.New("the code holds text, not bytes")
		}
		code = append(code, byte(r))
	}
	return code, nil
}
