package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// didYouMean is the end of a message about an unknown name: a question that has the known
// name nearest to it after a prefix such as --, or nothing if none is near.
func didYouMean(name, prefix string, known []string) string {
	if best := nearest(name, known); best != "" {
		return ": did you mean " + prefix + best + "?"
	}
	return ""
}

// nearest is the known name that was probably meant by another, or "". It differs in letter
// case and separators alone, or in few letters, or is begun by what was typed.
func nearest(name string, known []string) string {
	typed := lettersOf(name)
	if typed == "" {
		return ""
	}
	best, least := "", 0
	for _, candidate := range known {
		letters := lettersOf(candidate)
		d := edits(typed, letters)
		if len(typed) >= 3 && strings.HasPrefix(letters, typed) {
			d = min(d, 2)
		}
		if d <= min(2, (len(typed)+1)/3) && (best == "" || d < least) {
			best, least = candidate, d
		}
	}
	return best
}

// lettersOf is a name without letter case and separators.
func lettersOf(name string) string {
	return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
}

// edits is how many bytes have to be added, removed, replaced or swapped with the next one
// to make one text of another: the optimal string alignment distance.
func edits(a, b string) int {
	before, last, row := []int(nil), make([]int, len(b)+1), []int(nil)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row = make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(row[j]+1, last[j+1]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// unknownCommand is the error of a command line that names a command that does not exist.
func unknownCommand(c *cobra.Command, name string) error {
	var known []string
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() || below.Name() == "help" {
			known = append(known, below.Name())
		}
	}
	guess := didYouMean(name, "", known)
	if len(known) == 0 {
		return usageError{fmt.Errorf("unexpected argument %.100q: '%s' has no commands below it", name, c.CommandPath()), c.CommandPath()}
	}
	if guess == "" && c.HasParent() {
		guess = ": want " + orList(known)
	}
	return usageError{fmt.Errorf("unknown command %.100q%s", name, guess), c.CommandPath()}
}

// invalidChoice is the error of a value that is not one of a list.
func invalidChoice(source, value string, choices []string) error {
	guess := didYouMean(value, "", choices)
	if guess != "" {
		guess = ";" + guess[1:]
	}
	return invalidValue(source, value, orList(choices)+guess)
}

// orList is a list in words: "a, b or c".
func orList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// unknownFlag is the error of a command line that names a flag that the command does not have.
func unknownFlag(c *cobra.Command, e *pflag.NotExistError) error {
	if letters := e.GetSpecifiedShortnames(); letters != "" {
		if !takesArguments(c) {
			return usagef("unknown flag -%.100s: flags have two dashes", letters)
		}
		return usagef("unknown flag -%.100s: flags have two dashes; put -- before an argument that begins with a dash", letters)
	}
	name := e.GetSpecifiedName()
	if guess := didYouMean(name, "--", flagNames(c.Flags())); guess != "" {
		return usagef("unknown flag --%.100s%s", name, guess)
	}
	if !takesArguments(c) {
		return usagef("unknown flag --%.100s", name)
	}
	return usagef("unknown flag --%.100s: put -- before an argument that begins with dashes", name)
}

// takesArguments says whether a command can have arguments beside flags.
func takesArguments(c *cobra.Command) bool {
	for some := []string{"x"}; len(some) < 5; some = append(some, "x") {
		if c.Args == nil || c.Args(c, some) == nil {
			return true
		}
	}
	return false
}

// valueMissing is the error of a flag without the value that it needs.
func valueMissing(e *pflag.ValueRequiredError) error {
	kind, _ := pflag.UnquoteUsage(e.GetFlag())
	return usagef("--%s needs a value: give --%[1]s %s", e.GetSpecifiedName(), strings.ToUpper(kind))
}

func flagNames(flags *pflag.FlagSet) (names []string) {
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// takes checks that a command gets its arguments, each of which is named. The last one may be
// several if its name ends in "…", and may be missing if it is in brackets. None may be empty,
// as a variable of a shell is that is not set.
func takes(names ...string) cobra.PositionalArgs {
	return func(c *cobra.Command, given []string) error {
		if len(given) < len(names) && strings.HasPrefix(names[len(given)], "[") {
			return nil
		}
		several := len(names) > 0 && strings.HasSuffix(names[len(names)-1], "…")
		switch {
		case len(given) < len(names):
			return usagef("missing %s: usage is '%s'", missing(names[len(given):]), c.UseLine())
		case len(given) > len(names) && !several && c.HasSubCommands():
			return unknownCommand(c, given[len(names)])
		case len(given) > len(names) && !several:
			return usagef("unexpected argument %.100q: usage is '%s'", given[len(names)], c.UseLine())
		}
		for i, a := range given {
			if a == "" {
				return usagef("argument %d is empty: usage is '%s'", i+1, c.UseLine())
			}
		}
		return nil
	}
}

// missing names arguments that were not given.
func missing(names []string) string {
	var all []string
	for _, name := range names {
		all = append(all, strings.TrimSuffix(name, "…"))
	}
	if len(all) == 1 {
		return "argument " + all[0]
	}
	return fmt.Sprintf("arguments %s", strings.Join(all, " "))
}

// helpCommand prints the help of a command, and refuses the name of one that does not exist.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND…]",
		Short:             "Print the help of a command",
		Long:              "Print the help of a command, such as 'traintravel help serve'.",
		PersistentPreRunE: func(*cobra.Command, []string) error { return nil }, // wrong settings do not matter
		ValidArgsFunction: func(c *cobra.Command, given []string, begun string) (names []string, _ cobra.ShellCompDirective) {
			if of, rest, err := c.Root().Find(given); err == nil && len(rest) == 0 {
				for _, below := range of.Commands() {
					if below.IsAvailableCommand() && strings.HasPrefix(below.Name(), begun) {
						names = append(names, cobra.CompletionWithDesc(below.Name(), below.Short))
					}
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, given []string) error {
			of, rest, err := c.Root().Find(given)
			if err != nil {
				return usageError{err, of.CommandPath()}
			}
			if len(rest) > 0 {
				return unknownCommand(of, rest[0])
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	}
}
