package main

import (
	"encoding/json"

	"github.com/spf13/cobra"
)

// jsonFlag adds the flag --json, which all commands have that print results.
func jsonFlag(c *cobra.Command, asJSON *bool) {
	c.Flags().BoolVar(asJSON, "json", false, "print the result as JSON")
}

// printJSON prints a result as indented JSON.
func (p *program) printJSON(v any) error {
	out := json.NewEncoder(p.stdout)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(v)
}
