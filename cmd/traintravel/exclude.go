package main

import "github.com/spf13/pflag"

// excludes is the annotation of a flag that names the flags that it excludes.
const excludes = "traintravel_excludes"

// exclude notes that two flags of a set exclude each other.
func exclude(f *pflag.FlagSet, one, other string) {
	f.Lookup(one).Annotations = map[string][]string{excludes: {other}}
	f.Lookup(other).Annotations = map[string][]string{excludes: {one}}
}

// rivalsOfGiven returns the flags that are excluded by those that have a value.
func rivalsOfGiven(flags *pflag.FlagSet) map[string]bool {
	rivals := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) {
		if v := f.Value.String(); f.Changed && v != "" && v != "false" {
			for _, name := range f.Annotations[excludes] {
				rivals[name] = true
			}
		}
	})
	return rivals
}
