package httpserver

// A Try is what somebody needs for a first request, for the page at the server's own address.
type Try struct {
	// Token is an access token, for the sample requests of the page, and User whose it is.
	// Empty is none: then the samples say TOKEN.
	Token, User string

	// Command prints an access token in a shell. Empty is none.
	Command string

	// Links are shown beside those that the page has.
	Links []Link
}

// A Link leads to something else that runs with the server.
type Link struct {
	// Title is the text of the link.
	Title string

	// URL is where it leads: absolute, http or https.
	URL string

	// Note says more, in a sentence.
	Note string
}
