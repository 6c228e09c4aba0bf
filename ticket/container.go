package ticket

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/traintravel/traintravel"
)

// A container is, as UIC leaflet 918.3 has it in version 02:
//
//	#UT02 company(4) key(5) signature(64) length(4) compressed(length)
//
// All fields except the signature (r and s in 32 bytes each) and the compressed data are
// ASCII. The signature covers only the compressed bytes. So that no ticket has two different
// valid containers, every byte outside of them has exactly one valid value.
const (
	magic      = "#UT02"
	company    = "9999" // RICS code: the one that belongs to no company
	keyIDSize  = 5
	headerSize = len(magic) + len(company) + keyIDSize + 64 + 4
	// maxPayload is the maximum size of the decompressed data; other readers accept no more.
	maxPayload = 4096
	// MaxSize is the maximum size of a container in bytes. An Aztec code holds at most 1,914.
	MaxSize = 2048
)

// An envelope is a container that is taken apart.
type envelope struct {
	keyID      string
	signature  [64]byte
	compressed []byte
}

func (e envelope) encode() []byte {
	b := make([]byte, 0, headerSize+len(e.compressed))
	b = append(b, magic+company+e.keyID...)
	b = append(b, e.signature[:]...)
	b = fmt.Appendf(b, "%04d", len(e.compressed))
	return append(b, e.compressed...)
}

func decodeEnvelope(b []byte) (envelope, error) {
	var e envelope
	switch {
	case len(b) < headerSize || string(b[:len(magic)]) != magic:
		return e, errors.New("it does not begin with the header of a UIC 918.3 container of version 02")
	case len(b) > MaxSize:
		return e, fmt.Errorf("it is larger than %d bytes", MaxSize)
	}
	b = b[len(magic):]
	if string(b[:len(company)]) != company {
		return e, errors.New("it was issued by another company")
	}
	b = b[len(company):]
	e.keyID, b = string(b[:keyIDSize]), b[keyIDSize:]
	copy(e.signature[:], b)
	b = b[len(e.signature):]
	e.compressed = b[4:]
	if string(b[:4]) != fmt.Sprintf("%04d", len(e.compressed)) {
		return e, errors.New("its length differs from the one in its header")
	}
	return e, nil
}

// A compressor reuses writers, each of which has 800 KB.
type compressor struct{ writers sync.Pool }

// compress uses a level above the default, because some readers expect the two bytes with
// which such streams begin.
func (c *compressor) compress(b []byte) ([]byte, error) {
	var out bytes.Buffer
	w, ok := c.writers.Get().(*zlib.Writer)
	if ok {
		w.Reset(&out)
	} else {
		var err error
		if w, err = zlib.NewWriterLevel(&out, zlib.BestCompression); err != nil {
			return nil, err
		}
	}
	defer c.writers.Put(w)
	_, err := w.Write(b)
	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}
	if size := headerSize + out.Len(); size > MaxSize {
		return nil, fmt.Errorf("ticket: a container of %d bytes", size)
	}
	return out.Bytes(), nil
}

// decompress refuses data after the stream.
func decompress(b []byte) ([]byte, error) {
	in := bytes.NewReader(b)
	r, err := zlib.NewReader(in)
	if err != nil {
		return nil, errors.New("its data is not compressed with zlib")
	}
	out, err := io.ReadAll(io.LimitReader(r, maxPayload+1))
	switch {
	case err != nil:
		return nil, errors.New("its data cannot be decompressed")
	case len(out) > maxPayload:
		return nil, fmt.Errorf("its data is larger than %d bytes when decompressed", maxPayload)
	case in.Len() > 0:
		return nil, errors.New("it has data after the compressed data")
	}
	return out, nil
}

// The payload is blocks: name(6) version(2) length(4), of the whole block, content.
const blockHead = 12

const (
	blockTicket = "U_HEAD01"
	blockLayout = "U_TLAY01"
	blockOwn    = company + "TT01"
)

func block(name, content string) string {
	return fmt.Sprintf("%s%04d%s", name, blockHead+len(content), content)
}

// cutBlock cuts the next block, which must have this name, off a payload.
func cutBlock(payload, name string) (content, rest string, err error) {
	if len(payload) < blockHead || payload[:len(name)] != name {
		return "", "", fmt.Errorf("it lacks the block %s", name)
	}
	size, err := strconv.ParseUint(payload[len(name):blockHead], 10, 16)
	if err != nil || size < blockHead || int(size) > len(payload) {
		return "", "", fmt.Errorf("the length of its block %s is wrong", name)
	}
	return payload[blockHead:size], payload[size:], nil
}

// payload encodes the three blocks. The second is the one that other readers show.
func payload(c Content) []byte {
	head := company + fmt.Sprintf("%-20s", c.Reference) + c.Issued.UTC().Format("020120061504") + "0" + "EN" + "EN"
	return []byte(block(blockTicket, head) + block(blockLayout, layout(c)) + block(blockOwn, c.encode()))
}

// parsePayload decodes the text of payload.
func parsePayload(payload string) (Content, error) {
	head, rest, err := cutBlock(payload, blockTicket)
	if err != nil {
		return Content{}, err
	}
	_, rest, err = cutBlock(rest, blockLayout)
	if err != nil {
		return Content{}, err
	}
	own, rest, err := cutBlock(rest, blockOwn)
	switch {
	case err != nil:
		return Content{}, err
	case rest != "":
		return Content{}, errors.New("it has too many blocks")
	}
	c, err := decodeContent(own)
	if err != nil {
		return Content{}, err
	}
	if len(head) != 41 || head[:len(company)] != company {
		return Content{}, errors.New("its blocks belong to different tickets")
	}
	c.Reference = strings.TrimRight(head[len(company):len(company)+20], " ")
	if ref, ok := traintravel.ParseReference(c.Reference); c.Reference != Reference(c.Booking) && (!ok || ref != c.Reference) {
		return Content{}, errors.New("its blocks belong to different tickets")
	}
	return c, nil
}
