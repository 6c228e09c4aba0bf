package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// newCertificate makes a certificate for this machine, and its key, in PEM.
func newCertificate(t *testing.T, name string) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
}

// replace writes a file under another name, and then gives it its own.
func replace(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// A server with https supports HTTP/2. It reloads the certificate when its files are replaced,
// and keeps the previous one while the new files are invalid.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first, firstKey := newCertificate(t, "first")
	replace(t, cert, first)
	replace(t, key, firstKey)
	r := start(t, "serve", "--data", filepath.Join(dir, "t.db"), "--tls-cert", cert, "--tls-key", key)
	if !strings.HasPrefix(r.base, "https://") {
		t.Fatalf("it listens on %s", r.base)
	}
	addr := strings.TrimPrefix(r.base, "https://")
	shows := func(want string) {
		t.Helper()
		conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := conn.ConnectionState().PeerCertificates[0].Subject.CommonName; got != want {
			t.Errorf("the certificate is that of %s, want %s", got, want)
		}
	}
	shows("first")
	second, secondKey := newCertificate(t, "second")
	replace(t, cert, second) // and the key is still the first's
	shows("first")
	replace(t, key, secondKey)
	shows("second")
	for _, bad := range []string{"", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", string(second[:len(second)/2])} {
		replace(t, cert, []byte(bad))
		shows("second")
	}
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	shows("second")
	replace(t, cert, first)
	replace(t, key, firstKey)
	shows("first")
	if n := strings.Count(r.stderr.String(), "TLS certificate reload failed"); n < 5 {
		t.Errorf("the log tells of %d certificates that are no good: %s", n, r.stderr.String())
	}

	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(first)
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}}
	defer client.CloseIdleConnections()
	resp, err := client.Get(r.base + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != 200 || resp.ProtoMajor != 2 {
		t.Errorf("%s %s", resp.Proto, resp.Status)
	}

	for _, flags := range [][]string{{"--tls-cert", cert}, {"--tls-key", key}} {
		if code, _, stderr := once(t, nil, append([]string{"serve"}, flags...)...); code != 2 || !strings.Contains(stderr, "give both --tls-cert and --tls-key") {
			t.Errorf("%v: %d %s", flags, code, stderr)
		}
	}
	if code, _, stderr := once(t, nil, "serve", "--data", filepath.Join(dir, "other.db"), "--tls-cert", cert, "--tls-key", cert); code != 1 || !strings.Contains(stderr, "--tls-key") {
		t.Errorf("%d %s", code, stderr)
	}
}
