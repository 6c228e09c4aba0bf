// Package gateway lets a [traintravel.Service] take payments through another
// program, over a small signed HTTP contract, which openapi.yaml in this folder
// describes. [New] returns the service's side, a [Client]. [NewHandler] returns the
// other side for gateways that are written in Go: implement
// [traintravel.PaymentGateway], and serve it.
//
//	PUT  /charges/{id}         Charge
//	POST /charges/{id}/cancel  Cancel
//	PUT  /refunds/{id}         Refund
//	GET  /outcomes/{id}        Lookup
//
// Requests and responses are signed as in Standard Webhooks, with a secret that both
// sides have: whsec_ and 24 to 64 random bytes in base64. To replace a secret, give
// both sides several, separated by blanks: a message is signed with all of them, and
// one valid signature is enough.
package gateway
