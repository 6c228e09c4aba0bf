package httpserver

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/internal/need"
)

// Amounts have come out a cent less, or a hundred times more: every cent from
// 0.01 to 1000.00 that a body says is read and written as it is, in JSON and in
// XML, whether all decimals are sent or the fewest.
func TestEveryCent(t *testing.T) {
	t.Parallel()
	out := map[form]*encoder{asJSON: {form: asJSON}, asXML: {form: asXML}}
	for cents := int64(1); cents <= 100_000; cents += int64(need.Stride(7)) {
		whole, rest := strconv.FormatInt(cents/100, 10), fmt.Sprintf("%02d", cents%100)
		short := strings.TrimSuffix(whole+"."+strings.TrimRight(rest, "0"), ".")
		doc := paymentDoc{Payment: traintravel.Payment{}}
		for _, sent := range []string{short, whole + "." + rest} {
			x := exchange{in: []byte(`{"amount":` + sent + `,"currency":"eur","source":{"object":"bank_account","name":"A","number":"12345678",` +
				`"account_type":"company","bank_name":"B","country":"DE"}}`)}
			var ask traintravel.NewPayment
			err := x.decode(func(d *decoder) { ask = d.newPayment() })
			if want := (traintravel.Money{Amount: cents, Currency: "eur"}); err != nil || ask.Amount != want {
				t.Fatalf("%s is read as %v, %v", sent, ask.Amount, err)
			}
			doc.Amount = ask.Amount
		}
		for form, want := range map[form]string{
			asJSON: `,"amount":` + short + `,"currency":"eur",`,
			asXML:  "<amount>" + short + "</amount><currency>eur</currency>",
		} {
			e := out[form]
			e.write(&doc)
			if !strings.Contains(string(e.b), want) {
				t.Fatalf("%s is written as %s", short, e.b)
			}
		}
	}
}
