package whsec

import (
	"bytes"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, n := range []int{24, 32, 64} {
		key := bytes.Repeat([]byte{0xfe}, n)
		if got, err := Decode(Encode(key)); err != nil || !bytes.Equal(got, key) {
			t.Errorf("%d bytes: %x, %v", n, got, err)
		}
	}
	whole := Encode(make([]byte, 32))
	for what, secret := range map[string]string{
		"nothing": "", "no prefix": strings.TrimPrefix(whole, prefix), "short": Encode(make([]byte, 23)), "long": Encode(make([]byte, 65)),
		"no base64": prefix + "?" + whole[7:], "no padding": strings.TrimRight(whole, "="), "bits beyond": whole[:len(whole)-2] + "B=",
	} {
		if _, err := Decode(secret); err == nil || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
