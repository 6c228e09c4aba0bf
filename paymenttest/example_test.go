package paymenttest_test

import (
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/paymenttest"
	"github.com/traintravel/traintravel/sandbox"
)

// The tests of a gateway: open returns it with what the suite has to know about it. These functions
// belong in a file named like mygateway_test.go.
func Example() {
	card := func(number string) traintravel.Source {
		return traintravel.Source{Card: &traintravel.Card{
			Name: "Anna Example", Number: traintravel.Secret(number), CVC: "937", ExpMonth: 12, ExpYear: 2040, Country: "DE",
		}}
	}
	open := func(t testing.TB) paymenttest.Gateway {
		return paymenttest.Gateway{
			PaymentGateway: sandbox.New(), Succeeds: card("4242424242424242"), Declines: card("4000000000000002"),
		}
	}

	_ = func(t *testing.T) { paymenttest.Run(t, open) }      // TestGateway
	_ = func(t *testing.T) { paymenttest.Simulate(t, open) } // TestSimulate
}
