// Package gateway lets a [traintravel.Service] take money through a program of
// its own, over a small signed HTTP contract, which openapi.yaml in this folder
// describes. [New] makes the service's side, a [Client], and [NewHandler] the
// other side for gateways that are written in Go: implement
// [traintravel.PaymentGateway], and serve it.
//
//	PUT  /charges/{id}         Charge
//	POST /charges/{id}/cancel  Cancel
//	PUT  /refunds/{id}         Refund
//	GET  /outcomes/{id}        Lookup
//
// Requests and answers are signed in the manner of Standard Webhooks, with a
// secret that both sides have: whsec_ and 24 to 64 random bytes in base64. While
// a secret is replaced there may be several, separated by blanks: all of them
// sign, and each is good.
package gateway
