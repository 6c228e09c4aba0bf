package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/traintravel/traintravel"
	"github.com/traintravel/traintravel/httpserver"
)

// Shells complete the values of flags and arguments: those of a fixed list, names of files
// where a file is wanted, and nothing elsewhere. The script is that of 'completion'.

// flagValues are the values of flags that have a fixed list of them.
func flagValues() map[string][]string {
	var events []string
	for _, e := range traintravel.EventTypes() {
		events = append(events, string(e))
	}
	return map[string][]string{
		"log-format":    {"text", "json"},
		"log-level":     {"debug", "info", "warn", "error"},
		"webhook-event": events,
		"as":            {"succeeded", "failed", "made-elsewhere", "impossible"},
		"scope":         {"read", "write", "read write"},
		"token-type":    {"at+jwt", "JWT"},
		"currency":      {"eur", "chf", "czk", "dkk", "gbp", "huf", "nok", "pln", "ron", "sek"},
		"issuer":        {httpserver.BuiltinIssuer},
	}
}

// fileEndings are the endings of the names of files that are flags' values. A flag of a file
// that is not listed takes any.
var fileEndings = map[string][]string{"config": {"yaml", "yml"}, "accounts": {"yaml", "yml"}, "keys": {"json"}, "data": {"db"}}

// completeValues registers the values of the flags and arguments of a command and of all below
// it. Cobra keeps them in a global table, so this is for calls that complete alone.
func completeValues(root *cobra.Command) {
	values := flagValues()
	eachCommand(root, func(c *cobra.Command) {
		if c.ValidArgsFunction == nil {
			c.ValidArgsFunction = cobra.NoFileCompletions
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if _, done := c.GetFlagCompletionFunc(f.Name); done {
				return
			}
			kind, _ := pflag.UnquoteUsage(f)
			complete := cobra.NoFileCompletions
			switch known := values[f.Name]; {
			case known != nil && (f.Name != "issuer" || c.Name() != "serve" && c.Name() != "config"):
				complete = cobra.FixedCompletions(known, cobra.ShellCompDirectiveNoFileComp)
			case kind == "file" && fileEndings[f.Name] != nil:
				complete = cobra.FixedCompletions(fileEndings[f.Name], cobra.ShellCompDirectiveFilterFileExt)
			case kind == "file":
				complete = completeFiles
			}
			_ = c.RegisterFlagCompletionFunc(f.Name, complete) // it fails for a flag that has one
		})
	})
}

// completionCommand adds the command that prints the scripts. Cobra's own prints its help
// and succeeds, whatever shell it is asked for.
func completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	c, _, _ := root.Find([]string{"completion"})
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.PersistentPreRunE = func(*cobra.Command, []string) error { return nil } // settings do not matter
	eachCommand(c, func(c *cobra.Command) { c.Args = takes() })
}

// eachCommand calls fn with a command and all below it.
func eachCommand(c *cobra.Command, fn func(*cobra.Command)) {
	fn(c)
	for _, below := range c.Commands() {
		eachCommand(below, fn)
	}
}

// completeFiles completes names of files.
func completeFiles(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeFeeds completes names of feeds: zip files, and folders on the way to them.
var completeFeeds = cobra.FixedCompletions([]string{"zip"}, cobra.ShellCompDirectiveFilterFileExt)

// completeRun completes the arguments TRAIN DATE: dates are those of the next two weeks.
func completeRun(_ *cobra.Command, given []string, _ string) (dates []cobra.Completion, _ cobra.ShellCompDirective) {
	if len(given) == 1 {
		for day := range 14 {
			dates = append(dates, time.Now().AddDate(0, 0, day).Format(time.DateOnly))
		}
	}
	return dates, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}
