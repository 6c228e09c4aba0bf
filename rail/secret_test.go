package rail

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// Card numbers and codes turned up in logs and audit trails: no way of
// printing a Secret may show it.
func TestSecretNeverShowsItself(t *testing.T) {
	t.Parallel()
	const number, cvc = "4242424242424242", "987"
	card := Card{Name: "J. Doe", Number: number, CVC: cvc}
	outputs := map[string]string{
		"String":   Secret(number).String() + Secret(cvc).String(),
		"GoString": Secret(number).GoString() + Secret(cvc).GoString(),
		"error":    fmt.Errorf("charging %v: %s", card, card.Number).Error(),
		"print":    fmt.Sprint(card, &card, card.Number),
		"panic":    panicText(card),
	}
	for _, verb := range []string{"v", "+v", "#v", "s", "q", "#q", "x", "X", "# x", "d", "c", "U", "f", "t", "z", "20s", "-30q", ".99v"} {
		outputs["%"+verb] = fmt.Sprintf("%"+verb+" %"+verb+" %"+verb, Secret(number), Secret(cvc), card)
	}
	j, err := json.Marshal(card)
	if err != nil {
		t.Fatal(err)
	}
	outputs["json"] = string(j)
	x, err := xml.Marshal(card)
	if err != nil {
		t.Fatal(err)
	}
	outputs["xml"] = string(x)
	var text, lines bytes.Buffer
	timeless := &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{} // any digits may be in it
		}
		return a
	}}
	slog.New(slog.NewTextHandler(&text, timeless)).Info("pay", "number", card.Number, "cvc", card.CVC, "card", card)
	slog.New(slog.NewJSONHandler(&lines, timeless)).Info("pay", "number", card.Number, "cvc", card.CVC, "card", card)
	outputs["slog text"], outputs["slog json"] = text.String(), lines.String()

	for how, out := range outputs {
		for _, secret := range []string{number, cvc} {
			for _, form := range []string{"%s", "%x", "%X", "% x"} {
				// Six characters of the number are two more than the mask shows.
				if leak := fmt.Sprintf(form, secret[:min(6, len(secret))]); strings.Contains(out, leak) {
					t.Errorf("%s shows %q: %s", how, leak, out)
				}
			}
		}
	}
	if got, want := outputs["%q"][:18], `"************4242"`; got != want {
		t.Errorf("%%q gives %s, want %s", got, want)
	}
}

func panicText(v any) (text string) {
	defer func() { text = fmt.Sprint(recover()) }()
	panic(v)
}

func TestSecretMask(t *testing.T) {
	t.Parallel()
	for plain, want := range map[string]string{
		"":                               "",
		"1":                              "*",
		"123":                            "***",
		"1234":                           "****",
		"12 34":                          "** **",
		" 123\n":                         " ***\n",
		"12345":                          "*2345",
		"4242424242424242":               "************4242",
		"4242 4242-4242 4242":            "**** ****-**** 4242",
		"GB33BUKB20201555555555":         "******************5555",
		"MT31MALT01100000000KAB9":        "*******************KAB9",
		"\u0661\u0662\u0663\u0664\u0665": "*\u0662\u0663\u0664\u0665",
		"----":                           "----",
	} {
		got := Secret(plain).String()
		if got != want {
			t.Errorf("mask of %q is %q, want %q", plain, got, want)
		}
		if again := Secret(got).String(); again != got {
			t.Errorf("masking %q again gives %q", got, again)
		}
	}
}

// What was stored masked is read back as it was.
func TestSecretJSONRoundTripOfMasked(t *testing.T) {
	t.Parallel()
	want := Secret("************4242")
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Secret
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("read back %q, %v", string(got), err)
	}
}
