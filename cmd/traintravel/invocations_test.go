package main

import (
	"os"
	"strings"
	"testing"
)

// Each wrong invocation has exit code 2 if the command line or a setting is wrong, and 1
// otherwise. The message names what is wrong and quotes its value. No invocation makes a file.
func TestWrongInvocations(t *testing.T) {
	t.Chdir(t.TempDir()) // where there are no data and no keys
	for _, c := range []struct {
		args, environ string // words without blanks; '' is an empty one
		code          int
		says          string // all, or the beginning up to …
	}{
		{"sell", "", 2, `traintravel: unknown command "sell"`},
		{"serv", "", 2, `traintravel: unknown command "serv": did you mean serve?`},
		{"improt feed.zip", "", 2, `traintravel: unknown command "improt": did you mean import?`},
		{"help booking nosuch", "", 2, `traintravel help: unexpected argument "nosuch": 'traintravel booking' has no commands below it`},
		{"help nosuch", "", 2, `traintravel help: unknown command "nosuch"`},
		{"help serv", "", 2, `traintravel help: unknown command "serv": did you mean serve?`},
		{"payment stock", "", 2, `traintravel payment: unknown command "stock": did you mean stuck?`},
		{"subject remove anna", "", 2, `traintravel subject: unknown command "remove": want erase or export`},
		{"webhooks retri", "", 2, `traintravel webhooks: unknown command "retri": did you mean retry?`},
		{"verison", "", 2, `traintravel: unknown command "verison": did you mean version?`},
		{"--verison", "", 2, "traintravel: unknown flag --verison: did you mean --version?"},
		{"-v", "", 2, "traintravel: unknown flag -v: flags have two dashes"},
		{"token --nosuch", "", 2, "traintravel token: unknown flag --nosuch"},
		{"manifest --nosuch", "", 2, "traintravel manifest: unknown flag --nosuch: put -- before an argument that begins with dashes"},
		{"manifest -5", "", 2, "traintravel manifest: unknown flag -5: flags have two dashes; put -- before an argument that begins with a dash"},
		{"token --user anna --ttl 5h", "", 2, "traintravel token: invalid --ttl 5h0m0s: want 1s to 1h"},
		{"serve --adr 127.0.0.1:1", "", 2, "traintravel serve: unknown flag --adr: did you mean --addr?"},
		{"serve --webook http://x", "", 2, "traintravel serve: unknown flag --webook: did you mean --webhook?"},
		{"import feed.zip --dryrun", "", 2, "traintravel import: unknown flag --dryrun: did you mean --dry-run?"},
		{"serve now", "", 2, `traintravel serve: unexpected argument "now": usage is 'traintravel serve [flags]'`},
		{"serve --hold soon", "", 2, `traintravel serve: invalid --hold "soon": want a duration such as 90s, 5m or 1h`},
		{"serve --hold -1h", "", 2, "traintravel serve: invalid --hold -1h0m0s: want more than 0s"},
		{"serve --rate-limit many", "", 2, `traintravel serve: invalid --rate-limit "many": want a whole number`},
		{"serve --rate-limit -1", "", 2, "traintravel serve: invalid --rate-limit -1: want 0 or more"},
		{"serve --addr localhost", "", 2, `traintravel serve: invalid --addr "localhost": missing port in address: want an address such as 127.0.0.1:8080`},
		{"serve --addr 127.0.0.1:99999", "", 2, `traintravel serve: invalid --addr "127.0.0.1:99999": invalid port: want an address such as 127.0.0.1:8080`},
		{"serve --base-url http://x/", "", 2, `traintravel serve: invalid --base-url "http://x/": want an http or https URL such as https://trains.example/api, without a query and without a slash at its end`},
		{"serve --clock noon", "", 2, `traintravel serve: invalid --clock "noon": want a time such as 2024-02-01T08:00:00Z`},
		{"serve --cors-origin shop", "", 2, `traintravel serve: invalid --cors-origin "shop": want * or an origin such as https://shop.example`},
		{"serve --trusted-proxy here", "", 2, "traintravel serve: the built-in sign-in asks for no password and is for this machine alone, but --trusted-proxy lets a proxy pass on requests from other machines: give --issuer URL to use another authorization server, or --public-signin to let everyone sign in without a password\ninvalid --trusted-proxy \"here\": want a network such as 10.0.0.0/8"},
		{"serve --tls-cert cert.pem", "", 2, "traintravel serve: --tls-key is missing: give both --tls-cert and --tls-key, or neither"},
		{"serve --log-level loud", "", 2, `traintravel serve: invalid --log-level "loud": want debug, info, warn or error`},
		{"serve --webhook-event newbooking --webhook http://127.0.0.1:1/", "", 2, `traintravel serve: invalid --webhook-event "newbooking": want newBooking, bookingConfirmed, bookingCancelled, bookingExpired or paymentFailed; did you mean newBooking?`},
		{"serve --issuer keycloak", "", 2, "traintravel serve: invalid --issuer \"keycloak\": want an absolute http or https URL\n--issuer needs --audience or --base-url: give the audience of its tokens"},
		{"serve --gateway https://pay.example", "", 2, `traintravel serve: --gateway needs TRAINTRAVEL_GATEWAY_SECRET: set it to the secret that the gateway has too, whsec_ and 24 to 64 random bytes in base64, such as "whsec_$(openssl rand -base64 32)"`},
		{"serve --data postgres://host/db", "", 2, `traintravel serve: invalid --data "postgres://host/db": want a file, not a URL; for a PostgreSQL database give --postgres`},
		{"serve --data=", "", 2, "traintravel serve: --data is empty: give the path of a file, or leave the flag out to use traintravel.db"},
		{"serve --data /nope/x.db", "", 1, "traintravel serve: --data /nope/x.db: cannot use its folder: stat /nope: no such file or directory"},
		{"serve --addr 192.0.2.1:80 --public-signin", "", 1, "traintravel serve: cannot listen on --addr 192.0.2.1:80: bind: cannot assign requested address"},
		{"serve --config nosuch.yaml", "", 1, "traintravel serve: cannot read --config: open nosuch.yaml: no such file or directory"},
		{"serve --hold", "", 2, "traintravel serve: --hold needs a value: give --hold DURATION"},
		{"manifest", "", 2, "traintravel manifest: missing arguments TRAIN DATE: usage is 'traintravel manifest TRAIN DATE [flags]'"},
		{"manifest ICE", "", 2, "traintravel manifest: missing argument DATE: usage is 'traintravel manifest TRAIN DATE [flags]'"},
		{"manifest ICE 2026-13-01", "", 2, `traintravel manifest: invalid DATE "2026-13-01": want a date such as 2026-12-31`},
		{"manifest ICE 2026-12-01 extra", "", 2, `traintravel manifest: unexpected argument "extra": usage is 'traintravel manifest TRAIN DATE [flags]'`},
		{"block ICE 2026-12-01", "", 2, "traintravel block: missing argument COACH:SEAT: usage is 'traintravel block TRAIN DATE COACH:SEAT… [flags]'"},
		{"cancel-run", "", 2, "traintravel cancel-run: missing arguments TRAIN DATE: usage is 'traintravel cancel-run TRAIN DATE [flags]'"},
		{"booking", "", 2, "traintravel booking: missing argument REFERENCE, ID or NAME: usage is 'traintravel booking REFERENCE | ID | NAME… [flags]'"},
		{"booking --limit 0 Anna", "", 2, "traintravel booking: invalid --limit 0: want 1 or more"},
		{"booking Anna", "", 1, "traintravel booking: data file traintravel.db not found: name the data with --data or --postgres"},
		{"payment settle", "", 2, "traintravel payment settle: missing argument ID: usage is 'traintravel payment settle ID --as OUTCOME --reason TEXT [flags]'"},
		{"payment settle 1234", "", 2, `traintravel payment settle: invalid ID "1234": want the ID of a payment or refund, as 'payment stuck' and 'booking' print them`},
		{"payment settle 0190b1a0-0000-7000-8000-000000000000 --as done --reason x", "", 2, `traintravel payment settle: invalid --as "done": want succeeded, failed, made-elsewhere or impossible`},
		{"payment settle 0190b1a0-0000-7000-8000-000000000000", "", 2, "traintravel payment settle: missing --as OUTCOME: want succeeded, failed, made-elsewhere or impossible"},
		{"payment stuck --older -5m", "", 2, "traintravel payment stuck: invalid --older -5m0s: want 0s or more"},
		{"subject export", "", 2, "traintravel subject export: missing argument USER: usage is 'traintravel subject export USER [flags]'"},
		{"webhooks retry", "", 2, "traintravel webhooks retry: missing argument ID: give the IDs of the events to send again, or --all"},
		{"webhooks retry 17", "", 2, `traintravel webhooks retry: invalid ID "17": want the ID of an event, as 'webhooks' lists them`},
		{"import", "", 2, "traintravel import: missing argument FEED: usage is 'traintravel import [NAME=]FEED… [flags]'"},
		{"import nowhere.zip", "", 1, "traintravel import: feed …"},
		{"import feed.zip --fare-per-km abc", "", 2, `traintravel import: invalid --fare-per-km "abc": want an amount of eur: a number with at most 2 decimals, not above 100000000000000`},
		{"import feed.zip --currency euro", "", 2, `traintravel import: invalid --currency "euro": want a currency code of three lower-case letters, such as eur`},
		{"import feed.zip --coaches 21", "", 2, `traintravel import: invalid --coaches "21": want COACH:SEATS such as 21:80`},
		{"import feed.zip --strict --lenient", "", 2, "traintravel import: --strict and --lenient exclude each other: give one of them"},
		{"import feed.zip --max-memory lots", "", 2, `traintravel import: invalid --max-memory "lots": want a number of bytes such as 500MiB or 2GiB`},
		{"token", "", 2, "traintravel token: missing --user NAME: name the user of the token"},
		{"token --user anna", "", 1, "traintravel token: keys file traintravel.keys.json not found: …"},
		{"token --user anna --data nosuch.db", "", 1, "traintravel token: keys file nosuch.keys.json not found: …"},
		{"verify-ticket", "", 2, "traintravel verify-ticket: missing argument FILE: usage is 'traintravel verify-ticket FILE… [flags]'"},
		{"verify-ticket nosuch.pdf", "", 1, "traintravel verify-ticket: keys file traintravel.keys.json not found: …"},
		{"ticket-keys remove", "", 2, "traintravel ticket-keys remove: missing argument ID: usage is 'traintravel ticket-keys remove ID [flags]'"},
		{"ticket-keys remove abc", "", 1, "traintravel ticket-keys remove: keys file traintravel.keys.json not found: …"},
		{"migrate", "", 2, "traintravel migrate: missing --postgres URL: give the database to move the data to, or --undo"},
		{"backup", "", 2, "traintravel backup: missing argument FILE: usage is 'traintravel backup FILE [flags]'"},
		{"backup traintravel.db", "", 1, "traintravel backup: data file traintravel.db not found: name the data with --data or --postgres"},
		{"restore a b", "", 2, `traintravel restore: unexpected argument "b": usage is 'traintravel restore FILE [flags]'`},
		{"restore nosuch.db", "", 1, "traintravel restore: backup nosuch.db not found"},
		{"compact", "", 1, "traintravel compact: data file traintravel.db not found: name the data with --data or --postgres"},
		{"check --data nosuch.db", "", 1, "traintravel check: data file nosuch.db not found: name the data with --data or --postgres"},
		{"mock --addr 0.0.0.0:0", "", 2, `traintravel mock: invalid --addr "0.0.0.0:0": want a loopback address, because the mock accepts any token; to let other machines reach it, give --host 0.0.0.0:0 instead`},
		{"mock --host here:there", "", 2, `traintravel mock: invalid --host "here:there": unknown port: want an address such as 127.0.0.1:8080`},
		{"completion tcsh", "", 2, `traintravel completion: unknown command "tcsh": want bash, fish, powershell or zsh`},
		{"config --retain 5m", "", 2, "traintravel config: invalid --retain 5m0s: want 0 or at least 1h"},
		{"import ''", "", 2, "traintravel import: argument 1 is empty: usage is 'traintravel import [NAME=]FEED… [flags]'"},
		{"token", "TRAINTRAVEL_RATELIMIT=3", 2, "warning: unknown environment variable TRAINTRAVEL_RATELIMIT: did you mean TRAINTRAVEL_RATE_LIMIT?\ntraintravel token: missing --user NAME: name the user of the token"},
		{"config", "TRAINTRAVEL_RATE_LIMIT=many", 2, `traintravel config: invalid TRAINTRAVEL_RATE_LIMIT "many": want a whole number`},
		{"check --data nosuch.db", "TRAINTRAVEL_DAAT=x.db", 1, "warning: unknown environment variable TRAINTRAVEL_DAAT: did you mean TRAINTRAVEL_DATA?\ntraintravel check: data file nosuch.db not found: name the data with --data or --postgres"},
		{"serve --issuer http://issuer.example --audience x", "", 2, `traintravel serve: invalid --issuer "http://issuer.example": http://issuer.example is not an https URL: only loopback hosts may use http`},
		{"serve --log-fromat json", "", 2, "traintravel serve: unknown flag --log-fromat: did you mean --log-format?"},
		{"manifest ICE tomorrow", "", 2, `traintravel manifest: invalid DATE "tomorrow": want a date such as 2026-12-31`},
		{"block ICE 2026-12-01 7", "", 2, `traintravel block: invalid place "7": want COACH:SEAT such as 7:11, or COACH:* for a coach`},
		{"cancel-run ICE 2026-12-01 --departs eight", "", 2, `traintravel cancel-run: invalid --departs "eight": want a time such as 08:05`},
		{"payment settle 0190b1a0-0000-7000-8000-000000000000 --as succeded --reason x", "", 2, `traintravel payment settle: invalid --as "succeded": want succeeded, failed, made-elsewhere or impossible; did you mean succeeded?`},
		{"--version extra", "", 2, `traintravel: unknown command "extra"`},
		{"version extra", "", 2, `traintravel version: unexpected argument "extra": usage is 'traintravel version [flags]'`},
		{"serve --postgres http://x --addr 192.0.2.1:80 --public-signin", "", 2, "traintravel serve: invalid --postgres: want a URL such as postgres://…"},
		{"check --postgres http://x", "", 2, "traintravel check: invalid --postgres: want a URL such as postgres://…"},
		{"migrate --postgres http://x", "", 2, "traintravel migrate: invalid --postgres: want a URL such as postgres://…"},
		{"serve --webhook http://127.0.0.1:1/", "TRAINTRAVEL_WEBHOOK_SECRET=abc", 2, `traintravel serve: invalid TRAINTRAVEL_WEBHOOK_SECRET, which does not begin with whsec_: want whsec_ and 24 to 64 random bytes in base64, such as "whsec_$(openssl rand -base64 32)"`},
		{"serve --webhook http://127.0.0.1:1/ --webhook http://127.0.0.1:1/", "", 2, `traintravel serve: invalid --webhook "http://127.0.0.1:1/": it is given twice: give it once`},
		{"serve --webhook-backlog 100001", "", 2, "traintravel serve: invalid --webhook-backlog 100001: want 1 to 100000"},
		{"serve --gateway https://pay.example/?key=1", "", 2, "traintravel serve: invalid --gateway \"https://pay.example/?xxxxx\": the URL has a query or a fragment\n--gateway needs TRAINTRAVEL_GATEWAY_SECRET: …"},
		{"serve --gateway http://pay.example", "TRAINTRAVEL_GATEWAY_SECRET=abc", 2, "traintravel serve: invalid --gateway \"http://pay.example\": the URL must begin with https://, because card numbers are sent to it\ninvalid TRAINTRAVEL_GATEWAY_SECRET, which does not begin with whsec_: …"},
		{"serve --accounts nosuch.yaml", "", 2, "traintravel serve: --accounts: open nosuch.yaml: no such file or directory"},

		// What is nearer overrides the other one of a pair that excludes it.
		{"check --data nosuch.db", "TRAINTRAVEL_POSTGRES=postgres://127.0.0.1:1/x", 1, "traintravel check: data file nosuch.db not found: name the data with --data or --postgres"},
		{"restore nosuch.db --data other.db", "TRAINTRAVEL_POSTGRES=postgres://127.0.0.1:1/x", 1, "traintravel restore: backup nosuch.db not found"},
		{"check --postgres http://x", "TRAINTRAVEL_DATA=nosuch.db", 2, "traintravel check: invalid --postgres: …"},
		{"import nowhere.zip --strict", "TRAINTRAVEL_LENIENT=true", 1, "traintravel import: feed …"},
		{"import nowhere.zip --strict=false", "TRAINTRAVEL_LENIENT=true TRAINTRAVEL_STRICT=true", 1, "traintravel import: feed …"},
		{"serve --issuer http://issuer.example --audience x", "TRAINTRAVEL_ACCOUNTS=nosuch.yaml", 2, `traintravel serve: invalid --issuer "http://issuer.example": …`},
		{"serve --accounts nosuch.yaml", "TRAINTRAVEL_ISSUER=https://issuer.example", 2, "traintravel serve: --accounts: open nosuch.yaml: …"},
		{"webhooks retry 0190b1a0-0000-7000-8000-000000000000", "TRAINTRAVEL_ALL=true", 1, "traintravel webhooks retry: data file …"},
		{"webhooks retry 0190b1a0-0000-7000-8000-000000000000 --all", "", 2, "traintravel webhooks retry: IDs and --all exclude each other: …"},
		{"check --data nosuch.db --postgres postgres://127.0.0.1:1/x", "", 2, "traintravel check: --data and --postgres …"},
		{"check", "TRAINTRAVEL_DATA=nosuch.db TRAINTRAVEL_POSTGRES=postgres://127.0.0.1:1/x", 2, "traintravel check: --data and --postgres …"},
		{"import nowhere.zip", "TRAINTRAVEL_LENIENT=true TRAINTRAVEL_STRICT=true", 2, "traintravel import: --strict and --lenient exclude each other: …"},
	} {
		if rest, ok := strings.CutPrefix(c.args, "serve "); ok && c.code == 2 { // config finds the same mistakes
			_, _, byServe := once(t, strings.Fields(c.environ), strings.Fields(c.args)...)
			code, _, byConfig := once(t, strings.Fields(c.environ), strings.Fields("config "+rest)...)
			if code != 2 || strings.ReplaceAll(byConfig, "traintravel config", "traintravel serve") != byServe {
				t.Errorf("config %s: exit code %d; it says\n%sbut serve\n%s", rest, code, byConfig, byServe)
			}
		}
		args := strings.Fields(c.args)
		for i, a := range args {
			if a == "''" {
				args[i] = ""
			}
		}
		code, stdout, stderr := once(t, strings.Fields(c.environ), args...)
		said, hint, hinted := strings.Cut(stderr, "\nTry '")
		begun, open := strings.CutSuffix(c.says, "…")
		for strings.HasPrefix(said, "time=") { // lines of a server's log come first
			_, said, _ = strings.Cut(said, "\n")
		}
		right := strings.TrimSpace(said) == c.says || open && strings.HasPrefix(said, begun)
		if code != c.code || !right || stdout != "" || hinted != (code == 2) || hinted && !strings.HasSuffix(hint, " --help'.\n") {
			t.Errorf("traintravel %s: exit code %d, want %d; it says\n%swant\n%s", c.args, code, c.code, stderr, c.says)
		}
		if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
			t.Fatalf("traintravel %s leaves the files %v, %v", c.args, left, err)
		}
	}
}
