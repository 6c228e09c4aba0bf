package authserver

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/text/secure/precis"
)

// maxUser is how many bytes a user's name may have.
const maxUser = 64

// userName returns the one form of a user's name (RFC 8265, case mapped): Anna
// and anna are the same. A colon is not for users: clientSubject has one.
func userName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", errors.New("a name is needed")
	case len(name) > maxUser:
		return "", fmt.Errorf("a name has at most %d bytes", maxUser)
	}
	name, err := precis.UsernameCaseMapped.String(name)
	if err != nil || name == "" || len(name) > maxUser || strings.Contains(name, ":") {
		return "", errors.New("a name is made of letters, digits and signs such as . - _ @, without blanks and colons")
	}
	return name, nil
}

// clientSubject is the sub of a client that acts for itself. No user's name is
// like that.
func clientSubject(id string) string { return "client:" + id }
