package httpserver_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/traintravel/traintravel/internal/need"
)

// pieces are put anywhere into a document to see whether it is still one.
var pieces = []string{
	" ", "\n", "\t", "x", "é", "<", ">", "/", "=", `"`, "'", "&", ";", ":", "-", "]]>", "--", "?", "\ufeff", "\u00a0", "\u0085", "\u2028", "\x01", "\x7f", "\ufffd",
	"\ufffe", "\uffff", "\ufdd0", "\U0001ffff", "\xff", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80",
	"&amp;", "&lt;", "&quot;", "&#32;", "&#x20;", "&#xD800;", "&#56320;", "&#xFFFE;", "&#65535;", "&#xFFFD;", "&#0;", "&#1;", "&#9;", "&#13;", "&#x10FFFF;", "&#x110000;",
	"&#4294967361;", "&#18446744073709551681;", "&#00000000000065;", "&#X41;", "&#x;", "&#;", "&#-1;", "&#+65;", "&# 65;", "&amp", "&none;", "&;", "&a:b;",
	"<a>", "</a>", "<a/>", "<a />", "<a/ >", "<a></a>", "<a></a >", "<p:a/>", "<q:a/>", "<p:a></q:a>", "<:a/>", "<a:/>", "<p:q:a/>", "<p:1/>", "<xmlns:a/>", "<xml:a/>", "<1/>", "<-/>", "<a.-1/>",
	`<a xmlns="u"/>`, `<a xmlns=""/>`, `<a xmlns:r="u"/>`, `<r:a xmlns:r="u"/>`, `<r:a xmlns:r=""/>`, `<a xmlns:r="u" xmlns:s="u" r:b="" s:b=""/>`, `<a xmlns:r="u" xmlns:s="v" r:b="" s:b=""/>`,
	` a="1"`, ` b='1'`, `a="1"`, ` a = "1"`, ` a='"'`, ` a=""`, ` a`, ` a=1`, ` a="<"`, ` a=">"`, ` a="&lt;]]>"`, ` a="&#xD800;"`, ` a="&none;"`, ` p:a="1"`, ` q:a="1"`, ` r:a="1"`,
	` xmlns="u"`, ` xmlns=""`, ` xmlns:p="u"`, ` xmlns:p=""`, ` xmlns:q="&#x75;"`, ` xmlns:xmlns="u"`, ` xmlns:xml="u"`, ` xmlns:xml="http://www.w3.org/XML/1998/namespace"`,
	` xmlns:r="http://www.w3.org/XML/1998/namespace"`, ` xmlns="http://www.w3.org/XML/1998/namespace"`, ` xmlns:r="http://www.w3.org/2000/xmlns/"`, ` xml:lang="de"`, ` xml:space="preserve"`,
	"<!-- -->", "<!---->", "<!-- - -->", "<!-- -- -->", "<!--->", "<!-->", "<!-- <a> & ]]> -->", "<![CDATA[x]]>", "<![CDATA[]]>", "<![CDATA[<&]]]]>", "<![CDATA[", "<![cdata[x]]>",
	"<?a?>", "<?a b?>", "<?a ?? >?>", "<? a?>", "<?a", "<?>", "<??>", `<?a"b"?>`, "<?a:b?>", "<?xml-a?>", "<?XML?>", "<?xml?>",
	`<?xml version="1.0"?>`, `<?xml version='1.0' encoding='utf-8'?>`, `<?xml version="1.0" standalone="yes"?>`, `<?xml version="1.0" standalone="maybe"?>`,
	`<?xml version="1.0" standalone="no" encoding="UTF-8"?>`, `<?xml encoding="UTF-8"?>`, `<?xml version="1.0"encoding="UTF-8"?>`, `<?xml  version = "1.0"  encoding = "UTF-8" ?>`,
}

// The scanner accepts exactly the documents that xmllint accepts.
func TestXMLAsXmllintHasIt(t *testing.T) {
	t.Parallel()
	xmllint := need.Program(t, "libxml2-utils", "xmllint")
	const document = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>|\n|<booking| xmlns:p=\"u\"| xmlns:q='u'| a='1'| p:b=\"2\"|>|\n\t|<trip_id|>|" + nobody + "|</trip_id|>|" +
		"<p:passenger_name|>|Anna|&amp;|</p:passenger_name| |>|<x| q:b='2'|/>|<!-- |x| -->|</booking|>|<?a |b|?>|\n|"
	parts := strings.SplitAfter(document, "|")
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	var documents, files []string
	args := []string{"--noout", "--nonet"}
	for i := range 6 * len(pieces) {
		var b strings.Builder
		first, second := r.IntN(len(parts)+1), -1
		if i%3 == 2 {
			second = r.IntN(len(parts) + 1)
		}
		for j, part := range append(parts[:len(parts):len(parts)], "") {
			if j == first {
				b.WriteString(pieces[i%len(pieces)])
			}
			if j == second {
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
			if i%5 < 4 || r.IntN(len(parts)) > 0 { // now and then a part is missing
				b.WriteString(strings.TrimSuffix(part, "|"))
			}
		}
		file := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(file, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		documents, files = append(documents, b.String()), append(files, file)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(t.Context(), xmllint, append(args, files...)...)
	cmd.Stderr = &said
	_ = cmd.Run() // it fails as soon as one document does
	refused := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^(\S+):\d+: \w+ error : (.*)$`).FindAllStringSubmatch(said.String(), -1) {
		refused[m[1]] = m[2]
	}

	w := newWorld(t)
	good := 0
	for i, text := range documents {
		ours := ""
		if a := w.do("POST", "/bookings", as("anna-w"), xmlBody(text)); a.status == 400 {
			if p := a.problem(400, "invalid-request"); p.names() == "" {
				ours = p.Errors[0].Detail
			}
		}
		switch theirs := refused[files[i]]; {
		case strings.HasPrefix(ours, "is not a document whose one root element"): // the rest was not read
		case (ours == "") != (theirs == ""):
			t.Errorf("%q\nours   %q\ntheirs %q", text, ours, theirs)
		case ours == "":
			good++
		}
	}
	if good < 100 || good > len(documents)-100 {
		t.Errorf("%d of %d documents are well-formed", good, len(documents))
	}
}
