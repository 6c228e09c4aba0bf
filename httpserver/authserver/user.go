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

// A User is somebody that the sign-in page knows.
type User struct {
	// Name is what [UserName] returns for it, the sub of the user's tokens.
	Name string

	// DisplayName is what pages show. Empty is Name.
	DisplayName string
}

// Check returns what is wrong with a user, or nil.
func (u User) Check() error {
	_, err := UserName(u.Name)
	return errors.Join(err, checkLabel(u.DisplayName))
}

// Shown is what pages show of a user.
func (u User) Shown() string {
	if u.DisplayName == "" {
		return u.Name
	}
	return u.DisplayName
}

// mostOffered is how many users the sign-in page has buttons for. Of more, people
// type the name.
const mostOffered = 12

// users are those that are known by name.
type users struct {
	known []User
	alone bool // nobody else may sign in
}

func newUsers(known []User, alone bool) (users, error) {
	if alone && len(known) == 0 {
		return users{}, errors.New("nobody can sign in: the list of users is empty")
	}
	u := users{alone: alone}
	for _, k := range known {
		if err := k.Check(); err != nil {
			return users{}, fmt.Errorf("the user %.80q: %w", k.Name, err)
		}
		k.Name, _ = UserName(k.Name)
		if u.find(k.Name) >= 0 {
			return users{}, fmt.Errorf("there are two users %q", k.Name)
		}
		u.known = append(u.known, k)
	}
	return u, nil
}

func (u users) find(name string) int {
	return slices.IndexFunc(u.known, func(k User) bool { return k.Name == name })
}

// offered are the users that the sign-in page has buttons for.
func (u users) offered() []User {
	if len(u.known) > mostOffered {
		return nil
	}
	return u.known
}

// typed says whether people may type a name.
func (u users) typed() bool { return !u.alone || len(u.known) > mostOffered }

// signIn returns the name of who signs in under a name as it was typed.
func (u users) signIn(typed string) (string, error) {
	name, err := UserName(typed)
	if err == nil && u.alone && u.find(name) < 0 {
		return "", errors.New("unknown user name")
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

// maxUser is how many bytes a user's name may have.
const maxUser = 64

// UserName returns the one form of a user's name (RFC 8265, case mapped): Anna
// and anna are the same. A colon is for clients alone: those that act for themselves
// are client:ID.
func UserName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", errors.New("a name is needed")
	case len(name) > maxUser:
		return "", fmt.Errorf("a name has at most %d bytes", maxUser)
	}
	name, err := precis.UsernameCaseMapped.String(name)
	if err != nil || name == "" || len(name) > maxUser || strings.Contains(name, ":") {
		return "", errors.New("a name is of letters, digits and signs such as . - _ @, without blanks or colons")
	}
	return name, nil
}

// clientSubject is the sub of a client that acts for itself. No user's name is
// like that.
func clientSubject(id string) string { return "client:" + id }

// maxLabel is how many bytes a name that people read may have.
const maxLabel = 100

// checkLabel refuses names that would not show as what they are.
func checkLabel(label string) error {
	if len(label) > maxLabel || !utf8.ValidString(label) || strings.TrimSpace(label) != label ||
		strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		return fmt.Errorf("shows as %.120q, which is not visible text of at most %d bytes without blanks around it", label, maxLabel)
	}
	return nil
}

// initial is the letter that stands for a name.
func initial(name string) string {
	r, _ := utf8.DecodeRuneInString(name)
	return string(r)
}
