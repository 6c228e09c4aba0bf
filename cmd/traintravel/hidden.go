package main

import (
	"log/slog"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/traintravel/traintravel/store/boltstore"
)

// Passwords are never printed or logged. Values of settings are cleaned where they are shown;
// each error and each line of the log is searched for URLs as well, in case a value got into
// it another way.

var passwordWord = regexp.MustCompile(`(?i)\bpassword\s*=\s*('(\\.|[^'])*'|\S+)`)

// withoutScheme is the beginning of a URL with a password and without a scheme, such as
// anna:secret@shop.example.
var withoutScheme = regexp.MustCompile(`(?s)^([^/:]*):.*@`)

// barePassword says whether a text is such a URL. Names of the schemes urn, tag and mailto
// have no password, though some look like it.
func barePassword(text string) bool {
	found := withoutScheme.FindStringSubmatch(text)
	return found != nil && !slices.Contains([]string{"urn", "tag", "mailto"}, strings.ToLower(found[1]))
}

// withoutSecrets hides the secret parts of a URL or of a PostgreSQL connection string:
// passwords, and the query. A user without a password in an http URL may be a key.
func withoutSecrets(v string) string {
	u, err := url.Parse(v)
	if err != nil || u.Host == "" {
		before, rest, ok := strings.Cut(v, "//")
		if ok && (before == "" || strings.HasSuffix(before, ":")) && strings.ContainsAny(rest, ":@?#") {
			return "(hidden)" // an invalid URL cannot be cleaned
		}
		v = passwordWord.ReplaceAllString(v, "password=xxxxx")
		if bare := withoutScheme.FindStringSubmatch(v); bare != nil {
			host, _, asks := strings.Cut(v[len(bare[0]):], "?")
			if asks {
				host += "?xxxxx"
			}
			v = bare[1] + ":xxxxx@" + host
		}
		return v
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

var passwordInText = regexp.MustCompile("([^\\s\"'`/:@]+):[^\\s\"'`/]+@")

// packageInText is the name of a package of this project before its message, which means nothing to
// the user of a command.
var packageInText = regexp.MustCompile(`(^|: |\n)(?:(?:boltstore|gtfs|pgstore|traintravel): )+`)

// shownError is withoutPasswords for what a command ends with, which may quote any value
// that it was given: what looks like a URL without a scheme is cleaned as well.
func shownError(err error) string {
	text := strings.ReplaceAll(err.Error(), boltstore.ErrInUse.Error(), "is in use by another server or command")
	text = packageInText.ReplaceAllString(text, "$1")
	return passwordInText.ReplaceAllString(withoutPasswords(text), "$1:xxxxx@")
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
