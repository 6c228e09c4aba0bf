package httpserver

// A Try contains the data for sample requests on the start page.
type Try struct {
	// Token is an access token for the sample requests of the page, and User its user.
	// If it is empty, the samples say TOKEN.
	Token, User string

	// Command is a shell command that prints an access token; it may be empty.
	Command string

	// Links are shown in addition to those of the page.
	Links []Link
}

// A Link is a link to another service that runs with the server.
type Link struct {
	// Title is the text of the link.
	Title string

	// URL is where it leads: absolute, http or https.
	URL string

	// Note says more, in a sentence.
	Note string
}
