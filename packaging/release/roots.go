package main

import (
	"bytes"
	"encoding/pem"

	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// rootCertificates are those of Mozilla's root programme, in PEM, by which the program
// knows issuers, gateways and receivers of webhooks by https. They come from a module, so
// that the same source gives the same file on every machine. Roots of which certificates
// are good only if they were issued before a date are left out: a file cannot say that.
func rootCertificates() ([]byte, error) {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue
		}
		if err := pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return text.Bytes(), nil
}

// rootsNotice goes with them into the image.
const rootsNotice = `/etc/ssl/certs/ca-certificates.crt has root certificates of Mozilla's CA Certificate
Program, from its file certdata.txt
(https://hg.mozilla.org/projects/nss/file/tip/lib/ckfw/builtins/certdata.txt), in the form
in which the Go module golang.org/x/crypto/x509roots/fallback has them. That file is
subject to the terms of the Mozilla Public License, v. 2.0, which can be read at
https://mozilla.org/MPL/2.0/.
`
