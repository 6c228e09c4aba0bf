package main

import (
	"log/slog"
	"net/url"
	"regexp"
	"strings"
)

// What a command prints and logs shows no password. Values of settings are cleaned where
// they are shown; each error and each line of the log is searched for URLs as well, lest a
// value that got into it some other way is shown.

var passwordWord = regexp.MustCompile(`(?i)\bpassword\s*=\s*('(\\.|[^'])*'|\S+)`)

// withoutSecrets hides what only the owner of a URL or of a PostgreSQL connection
// string should know: passwords, and what comes after a question mark. A user without a
// password, in a URL of the web, is a key.
func withoutSecrets(v string) string {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" {
		if _, rest, ok := strings.Cut(v, "://"); ok && strings.ContainsAny(rest, ":@?#") {
			return "(hidden)" // what cannot be read cannot be cleaned
		}
		return passwordWord.ReplaceAllString(v, "password=xxxxx")
	}
	if u.RawQuery != "" {
		u.RawQuery = "xxxxx"
	}
	if _, ok := u.User.Password(); !ok && u.User != nil && strings.HasPrefix(u.Scheme, "http") {
		u.User = url.User("xxxxx")
	}
	return u.Redacted()
}

var urlInText = regexp.MustCompile("[A-Za-z][A-Za-z0-9+.-]*://[^\\s\"'`]*")

// withoutPasswords hides the secrets of all URLs in a text.
func withoutPasswords(text string) string {
	if !strings.Contains(text, "://") {
		return text
	}
	return urlInText.ReplaceAllStringFunc(text, func(found string) string {
		bare := strings.TrimRight(found, ".,:;)")
		if u, err := url.Parse(bare); err == nil && u.User == nil && u.RawQuery == "" {
			return found
		}
		return withoutSecrets(bare) + found[len(bare):]
	})
}

// cleanAttr is withoutPasswords for what is logged.
func cleanAttr(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value; {
	case v.Kind() == slog.KindString:
		a.Value = slog.StringValue(withoutPasswords(v.String()))
	case v.Kind() == slog.KindAny:
		if err, ok := v.Any().(error); ok {
			a.Value = slog.StringValue(withoutPasswords(err.Error()))
		}
	}
	return a
}
