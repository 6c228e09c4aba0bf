// Package whsec reads and writes secrets as Standard Webhooks has them: whsec_ and 24
// to 64 bytes in base64 (RFC 4648, section 4, with padding).
package whsec

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

const prefix = "whsec_"

// Encode writes a key.
func Encode(key []byte) string { return prefix + base64.StdEncoding.EncodeToString(key) }

// Decode reads a secret. Its errors say what is wrong with it, and do not quote it.
func Decode(secret string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(secret, prefix)
	if !ok {
		return nil, errors.New("does not begin with whsec_")
	}
	key, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil {
		return nil, errors.New("has something after whsec_ that is not base64 (RFC 4648, section 4, with padding)")
	}
	if len(key) < 24 || len(key) > 64 {
		return nil, fmt.Errorf("has %d bytes after whsec_, not 24 to 64", len(key))
	}
	return key, nil
}
