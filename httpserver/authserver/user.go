package authserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/secure/precis"
)

// A User is a user that the sign-in page offers.
type User struct {
	// Name is the user's name, normalized by [UserName]: the sub of the user's tokens.
	Name string

	// DisplayName is the name that pages show. Empty means Name.
	DisplayName string
}

// Check returns an error if a user is invalid.
func (u User) Check() error {
	_, err := UserName(u.Name)
	return errors.Join(err, checkLabel(u.DisplayName))
}

// Shown returns the name that pages show.
func (u User) Shown() string {
	if u.DisplayName == "" {
		return u.Name
	}
	return u.DisplayName
}

// mostOffered is how many users the sign-in page has buttons for. Of more, people
// type the name.
const mostOffered = 12

// users are the listed users.
type users struct {
	known []User
	alone bool // only listed users may sign in
}

func newUsers(known []User, alone bool) (users, error) {
	if alone && len(known) == 0 {
		return users{}, errors.New("nobody can sign in, because the list of users is empty: add users")
	}
	u := users{alone: alone}
	for _, k := range known {
		if err := k.Check(); err != nil {
			return users{}, fmt.Errorf("the user %.80q: %w", k.Name, err)
		}
		k.Name, _ = UserName(k.Name)
		if u.find(k.Name) >= 0 {
			return users{}, fmt.Errorf("two users have the name %q", k.Name)
		}
		u.known = append(u.known, k)
	}
	return u, nil
}

func (u users) find(name string) int {
	return slices.IndexFunc(u.known, func(k User) bool { return k.Name == name })
}

// offered returns the users that the sign-in page has buttons for.
func (u users) offered() []User {
	if len(u.known) > mostOffered {
		return nil
	}
	return u.known
}

// typed says whether people may type a name.
func (u users) typed() bool { return !u.alone || len(u.known) > mostOffered }

// signIn returns the normalized name of the user who signs in with a typed name.
func (u users) signIn(typed string) (string, error) {
	name, err := UserName(typed)
	if err == nil && u.alone && u.find(name) < 0 {
		return "", errors.New("this user name is not known here")
	}
	return name, err
}

// named returns a user by name.
func (u users) named(name string) User {
	if i := u.find(name); i >= 0 {
		return u.known[i]
	}
	return User{Name: name}
}

// maxUser is the maximum length of a user's name in bytes.
const maxUser = 64

// UserName returns the normalized form of a user's name (RFC 8265, case mapped): Anna and anna
// are the same user. Names have no colon, as clients that act for themselves have the subject
// client:ID.
func UserName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", errors.New("a user name is required")
	case len(name) > maxUser:
		return "", fmt.Errorf("a user name may have at most %d bytes", maxUser)
	}
	name, err := precis.UsernameCaseMapped.String(name)
	if err != nil || name == "" || len(name) > maxUser || strings.Contains(name, ":") {
		return "", errors.New("a user name may have letters, digits and signs such as . - _ @, but no blanks or colons")
	}
	return name, nil
}

// clientSubject is the sub of a client that acts for itself. No user can have such a name.
func clientSubject(id string) string { return "client:" + id }

// maxLabel is the maximum length of a displayed name in bytes.
const maxLabel = 100

// checkLabel refuses names with invisible characters or blanks at an end.
func checkLabel(label string) error {
	if len(label) > maxLabel || !utf8.ValidString(label) || strings.TrimSpace(label) != label ||
		strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return fmt.Errorf("has the invalid display name %.120q: want visible text of at most %d bytes, without blanks around it", label, maxLabel)
	}
	return nil
}

// initial is the letter that stands for a name.
func initial(name string) string {
	r, _ := utf8.DecodeRuneInString(name)
	return string(r)
}
