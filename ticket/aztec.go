package ticket

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"sync"

	"github.com/boombuler/barcode/aztec"

	"github.com/traintravel/traintravel"
)

// How the code is drawn: readers need the white border, and miss modules that are
// not whole numbers of pixels wide.
const (
	aztecCorrection = 23 // percent of the code, as UIC 918.3 has it
	aztecModule     = 8  // pixels
	aztecBorder     = 4  // modules
)

// PNG returns the Aztec code of a leg, counted from zero: black on white, with the border that
// readers need. The code contains the container of [Issuer.Container].
func (i *Issuer) PNG(t traintravel.Ticket, leg int) ([]byte, error) {
	container, err := i.Container(t, leg)
	if err != nil {
		return nil, err
	}
	return i.draw(container, 0)
}

// draw draws bytes as an Aztec code (ISO/IEC 24778), with some pixels of white
// beyond its border, below and to the right.
func (i *Issuer) draw(content []byte, beyond int) ([]byte, error) {
	code, err := aztec.Encode(content, aztecCorrection, 0)
	if err != nil {
		return nil, fmt.Errorf("the container does not fit into an Aztec code: %w", err)
	}
	modules := code.Bounds().Dx()
	size := (modules+2*aztecBorder)*aztecModule + beyond
	picture := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.White, color.Black})
	for y := range modules {
		row := picture.Pix[(y+aztecBorder)*aztecModule*size:][:size]
		for x := range modules {
			if code.At(x, y) != color.Black {
				continue
			}
			for dx := range aztecModule {
				row[(x+aztecBorder)*aztecModule+dx] = 1
			}
		}
		for dy := 1; dy < aztecModule; dy++ {
			copy(picture.Pix[((y+aztecBorder)*aztecModule+dy)*size:], row)
		}
	}
	var b bytes.Buffer
	quick := png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &i.buffers}
	if err := quick.Encode(&b, picture); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// A bufferPool keeps what pictures are encoded with, which is large, for the next.
type bufferPool struct{ pool sync.Pool }

// Get returns a buffer, or nil if a new one must be made.
func (p *bufferPool) Get() *png.EncoderBuffer {
	b, _ := p.pool.Get().(*png.EncoderBuffer)
	return b
}

// Put returns a buffer for reuse.
func (p *bufferPool) Put(b *png.EncoderBuffer) { p.pool.Put(b) }
