package main

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

func (p *program) showConfig() *cobra.Command {
	var set settings
	var asJSON bool
	c := &cobra.Command{
		Use:   "config",
		Short: "Print the settings that serve would use",
		Long: `Print the settings that 'serve' would use with these flags, this environment and this
--config file, in the form of such a file, each with its source. Settings without a value
are left out. Passwords and the queries of URLs are hidden. All invalid settings are
named. Nothing is tried: no port is opened, no request is made, and no data is read.`,
		Args:    takes(),
		PreRunE: func(c *cobra.Command, _ []string) error { return p.checkServe(c.Flags(), &set) },
		RunE: func(c *cobra.Command, _ []string) error {
			return p.printConfig(c.Flags(), set, asJSON)
		},
	}
	set.flags(c.Flags())
	jsonFlag(c.Flags(), &asJSON)
	return c
}

// checkServe finds all mistakes in the settings of serve, before it opens a port or its data.
func (p *program) checkServe(flags *pflag.FlagSet, set *settings) error {
	wrong := set.check(flags)
	_, money := p.gatewayClient(set.gateway)
	hooks := p.checkWebhooks(set)
	var who error
	if set.issuer == "" {
		_, who = p.accounts(set.accounts)
	}
	if set.checkSignIn(nil) == nil { // else it is named already
		who = errors.Join(who, set.checkSignIn(listened(set.addr)))
	}
	return errors.Join(wrong, money, hooks, who)
}

// printConfig prints the settings that are in force.
func (p *program) printConfig(flags *pflag.FlagSet, set settings, asJSON bool) error {
	all := object{}
	top := &yaml.Node{Kind: yaml.MappingNode}
	serverFlags().VisitAll(func(known *pflag.Flag) {
		f := flags.Lookup(known.Name)
		source := strings.TrimSuffix(p.sources[f.Name], ": "+f.Name) // of FILE:LINE: NAME
		if source == "" && f.Changed {
			source = "--" + f.Name
		}
		value := text(f.Value.String())
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
			for _, v := range list.GetSlice() {
				value.Content = append(value.Content, text(v))
			}
		} else if f.Name == "keys" {
			value = text(set.keysFile(set.keys))
		} else if f.Value.Type() != "string" {
			value.Tag = "" // a number or true, without quotes
		}
		if value.Value == "" && len(value.Content) == 0 {
			return // not set
		}
		value.LineComment = source
		var plain any
		if value.Decode(&plain) == nil {
			all[f.Name] = object{"value": plain, "source": cmp.Or(source, "default")}
		}
		top.Content = append(top.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: f.Name}, value)
	})
	var head, secrets []string
	for _, name := range []string{webhookSecret, gatewaySecret} {
		if p.env()[name] != "" {
			head, secrets = append(head, name+" is set."), append(secrets, name)
		}
	}
	if asJSON {
		return p.printJSON(object{"settings": all, "secrets_set": texts(secrets)})
	}
	top.HeadComment = strings.Join(head, "\n")
	e := yaml.NewEncoder(p.stdout)
	e.SetIndent(2)
	if err := e.Encode(top); err != nil {
		return err
	}
	return e.Close()
}

// text is a YAML string, without the secrets that settings have in them.
func text(v string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: withoutSecrets(v)}
}
