package main

import (
	"regexp"
)

// isID says whether a text has the form of the API's IDs. Nothing else becomes part of
// an address of the API.
func isID(s string) bool { return idForm.MatchString(s) }

var idForm = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
