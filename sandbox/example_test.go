package sandbox_test

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/sandbox"
)

func Example() {
	ctx := context.Background()
	gateway := sandbox.New()
	pay := func(number traintravel.Secret) uuid.UUID {
		id := uuid.New()
		outcome, err := gateway.Charge(ctx, traintravel.Charge{
			ID:     id,
			Amount: traintravel.Money{Amount: 4999, Currency: "eur"},
			Source: traintravel.Source{Card: &traintravel.Card{
				Name: "J. Doe", Number: number, CVC: "123", ExpMonth: 12, ExpYear: 2030, Country: "GB",
			}},
		})
		if err != nil {
			fmt.Println(err)
		}
		if outcome.Status == traintravel.Failed {
			fmt.Printf("%s: %s\n", number, outcome.Failure.Message)
		} else {
			fmt.Printf("%s: %s\n", number, outcome.Status)
		}
		return id
	}
	balance := func() {
		sum, err := gateway.Balance(ctx, "eur")
		if err != nil {
			fmt.Println(err)
		}
		fmt.Println(sum)
	}
	pay("4000000000000002")
	paid := pay("4242424242424242")
	balance()

	outcome, err := gateway.Refund(ctx, traintravel.Refund{
		ID:     uuid.New(),
		Charge: paid,
		Amount: traintravel.Money{Amount: 999, Currency: "eur"},
	})
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println("refund", outcome.Status)
	balance()
	// Output:
	// ************0002: The card was declined.
	// ************4242: succeeded
	// 49.99 eur
	// refund succeeded
	// 40.00 eur
}
