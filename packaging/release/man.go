package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A manual is traintravel(1), made from what the program itself says of its commands.
type manual struct {
	help func(command ...string) (string, error) // what --help prints of a command
	text strings.Builder
}

// manPage makes the page of a version of a time.
func manPage(version string, at time.Time, help func(command ...string) (string, error)) (string, error) {
	m := manual{help: help}
	fmt.Fprintf(&m.text, ".TH TRAINTRAVEL 1 %q %q %q\n", at.UTC().Format(time.DateOnly), "traintravel "+version, "User Commands")
	root, err := m.ask()
	if err != nil {
		return "", err
	}
	m.add(".SH NAME", `traintravel \- `+roff(strings.ToLower(root.about[:1])+root.about[1:]))
	m.add(".SH SYNOPSIS", ".B traintravel", ".I command", "[", ".I flags", "]")
	m.add(".SH DESCRIPTION")
	m.prose(`A server that searches, books, charges and tickets train trips: one program with one data
file, or with a PostgreSQL database that any number of servers share.

Flags may come before or after arguments.`)
	m.add(".SH COMMANDS")
	for _, c := range root.commands {
		if err := m.command(c); err != nil {
			return "", err
		}
	}
	m.add(".SH FLAGS OF ALL COMMANDS")
	m.flags(root.flags)
	m.add(".SH ENVIRONMENT")
	m.prose(`Every flag can be set in the environment: --rate-limit is TRAINTRAVEL_RATE_LIMIT. Flags
take precedence over the environment, and the environment over the file that --config
names. Secrets are only variables: TRAINTRAVEL_GATEWAY_SECRET, TRAINTRAVEL_WEBHOOK_SECRET,
PGPASSWORD. Traces are sent to OTEL_EXPORTER_OTLP_ENDPOINT.`)
	m.add(".SH FILES")
	for _, f := range [][2]string{
		{"traintravel.db", "Data, in the working folder. --data names another file."},
		{"traintravel.keys.json", "Keys, beside the data file and named after it. --keys names another file. Anyone who has it can make tokens and tickets."},
		{"/etc/traintravel/traintravel.yaml", "Settings of the service in the Debian package."},
		{"/etc/traintravel/environment", "Its secrets."},
		{"/var/lib/traintravel", "Its data and keys, and feeds for it to import."},
	} {
		m.add(".TP", `.I `+roff(f[0]), roff(f[1]))
	}
	m.add(".SH EXIT STATUS", ".TP", "0", "Done.", ".TP", "1", "Failed.", ".TP", "2", "Wrong usage or settings.")
	m.prose(`On SIGINT or SIGTERM a server finishes requests in progress and exits with 0. The second
signal ends it at once.`)
	return m.text.String(), nil
}

func (m *manual) add(lines ...string) {
	for _, l := range lines {
		m.text.WriteString(l + "\n")
	}
}

// A described is a command as it describes itself.
type described struct {
	about    string   // in paragraphs
	usage    []string // how it is called
	examples string
	commands []string // those below it
	flags    []string // as they are listed, but those of all commands and --help
}

var (
	headline = regexp.MustCompile(`^[A-Z][A-Za-z ]*:$`)
	flagLine = regexp.MustCompile(`^ +(-\w, )?--([\w-]+)(.*?)  +(\S.*)$`)
)

// ask has a command describe itself.
func (m *manual) ask(command ...string) (d described, err error) {
	help, err := m.help(command...)
	if err != nil {
		return d, err
	}
	part := ""
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, " \n")
		if headline.MatchString(line) {
			part = line
			continue
		}
		switch {
		case part == "":
			d.about += line + "\n"
		case line == "":
			if part == "Examples:" {
				d.examples += "\n"
			}
		case part == "Usage:":
			d.usage = append(d.usage, strings.TrimSpace(line))
		case part == "Examples:":
			d.examples += strings.TrimPrefix(line, "  ") + "\n"
		case part == "Available Commands:":
			if name := strings.Fields(line)[0]; name != "help" {
				d.commands = append(d.commands, name)
			}
		case part == "Flags:" || part == "Global Flags:":
			switch f := flagLine.FindStringSubmatch(line); {
			case f == nil && strings.HasPrefix(line, "Use "): // "Use … for more information"
			case f == nil:
				return d, fmt.Errorf("%v --help: cannot read the flag %q", command, line)
			case f[2] != "help" && (f[2] != "config" || command == nil):
				d.flags = append(d.flags, line)
			}
		default:
			return d, fmt.Errorf("%v --help: unexpected text %q", command, part)
		}
	}
	d.about = strings.TrimSpace(d.about)
	if d.about == "" || len(d.usage) == 0 {
		return d, fmt.Errorf("%v --help: the description is missing", command)
	}
	return d, nil
}

// command describes a command, and those below it.
func (m *manual) command(path ...string) error {
	d, err := m.ask(path...)
	if err != nil {
		return err
	}
	var calls []string
	for _, call := range d.usage {
		if len(d.usage) == 1 || !strings.HasSuffix(call, "[command]") {
			calls = append(calls, strings.TrimSuffix(call, " [flags]"))
		}
	}
	m.add(".SS " + roff(strings.Join(calls, ", ")))
	if path[0] == "completion" { // its pages are about shells
		m.prose(strings.SplitN(d.about, "\n\n", 2)[0])
		m.add("The shells are " + roff(strings.Join(d.commands, ", ")) + ".")
		return nil
	}
	m.prose(d.about)
	m.flags(d.flags)
	if d.examples != "" {
		m.add(".PP", ".nf", roff(strings.TrimSpace(d.examples)), ".fi")
	}
	for _, c := range d.commands {
		if err := m.command(append(path[:len(path):len(path)], c)...); err != nil {
			return err
		}
	}
	return nil
}

// prose sets paragraphs; lines that are indented stay as they are.
func (m *manual) prose(text string) {
	for part := range strings.SplitSeq(text, "\n\n") {
		if strings.HasPrefix(part, " ") || strings.HasPrefix(part, "\t") {
			m.add(".PP", ".nf", roff(part), ".fi")
		} else {
			m.add(".PP", roff(part))
		}
	}
}

func (m *manual) flags(list []string) {
	for _, line := range list {
		f := flagLine.FindStringSubmatch(line)
		m.add(".TP", ".B "+roff(f[1]+"--"+f[2])+` \fI`+roff(strings.TrimSpace(f[3]))+`\fR`, roff(f[4]))
	}
}

// roff is text as roff has it: what would be a request is none, and a dash can be
// copied as it is typed.
func roff(text string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			out.WriteString(`\&`)
		}
		for _, r := range line {
			switch {
			case r == '\\':
				out.WriteString(`\e`)
			case r == '-':
				out.WriteString(`\-`)
			case r == '\'':
				out.WriteString(`\(aq`)
			case r == '`':
				out.WriteString(`\(ga`)
			case r == '^':
				out.WriteString(`\(ha`)
			case r == '~':
				out.WriteString(`\(ti`)
			case r > 126:
				fmt.Fprintf(&out, `\[u%04X]`, r)
			default:
				out.WriteRune(r)
			}
		}
	}
	return out.String()
}
