package authserver

import "crypto/rand"

// secret makes a name that nobody guesses: 256 bits in base64url.
func secret() string { return encode64(random(32)) }

func random(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails: it ends the process instead
	return b
}
