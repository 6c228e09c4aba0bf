package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

// Flags get their values from the command line, else from the environment, else
// from the file that --config names. What is wrong in any of them is told at once.

// maxConfig is how long a file of settings can be, in bytes.
const maxConfig = 1 << 20

// settle gives a command's flags the values that the command line does not, and
// returns all that is wrong with any.
func (p *program) settle(c *cobra.Command) error {
	errs := p.wrong
	flags := c.Flags()
	set := func(f *pflag.Flag, source string, give func() error) {
		p.source = source
		was := len(p.wrong)
		if err := give(); err != nil {
			errs = append(errs, usagef("%s: %w", source, err))
		}
		errs = append(errs, p.wrong[was:]...)
		p.sources[f.Name] = source
	}
	env := p.env()
	flags.VisitAll(func(f *pflag.Flag) {
		if v, ok := env[variable(f.Name)]; ok && !f.Changed {
			set(f, variable(f.Name), func() error { return flags.Set(f.Name, v) })
		}
	})
	file, err := p.readConfig()
	if err != nil {
		errs = append(errs, err)
	}
	for _, name := range slices.Sorted(maps.Keys(file)) {
		f, value := flags.Lookup(name), file[name]
		if f == nil || f.Changed {
			continue
		}
		set(f, fmt.Sprintf("%s:%d: %s", p.config, value.Line, name), func() error { return setFromFile(flags, f, value) })
	}
	if c.PreRunE != nil { // before it would be called, so that its findings are told too
		errs = append(errs, c.PreRunE(c, nil))
		c.PreRunE = nil
	}
	return errors.Join(errs...)
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "TRAINTRAVEL_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// setFromFile gives a flag the value that a file has for it.
func setFromFile(flags *pflag.FlagSet, f *pflag.Flag, value *yaml.Node) error {
	list, isList := f.Value.(pflag.SliceValue)
	switch {
	case value.Kind == yaml.ScalarNode && value.Tag == "!!null":
		return errors.New("it is empty: give a value, or leave it out")
	case value.Kind == yaml.ScalarNode && isList:
		f.Changed = true
		return list.Replace([]string{value.Value})
	case value.Kind == yaml.ScalarNode:
		return flags.Set(f.Name, value.Value)
	case value.Kind != yaml.SequenceNode || !isList:
		return errors.New("it takes one value, such as a number or a text")
	}
	var values []string
	if err := value.Decode(&values); err != nil {
		return errors.New("it takes a list of texts")
	}
	f.Changed = true
	return list.Replace(values)
}

// readConfig reads the file of settings: a YAML mapping of the names of flags of
// serve. A command takes those that it has itself.
func (p *program) readConfig() (map[string]*yaml.Node, error) {
	if p.config == "" {
		return nil, nil
	}
	file, err := os.Open(p.config)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	if len(text) > maxConfig {
		return nil, usagef("--config: %s is longer than %d bytes", p.config, maxConfig)
	}
	var doc yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil // comments alone
	} else if err != nil {
		return nil, usagef("--config: %s: %w", p.config, err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, usagef("--config: %s has more than one document", p.config)
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, usagef("--config: %s:%d: settings are lines such as \"addr: 127.0.0.1:8080\"", p.config, top.Line)
	}
	var errs []error
	known := serverFlags()
	values := map[string]*yaml.Node{}
	for i := 0; i < len(top.Content); i += 2 {
		name, value := top.Content[i], top.Content[i+1]
		switch {
		case known.Lookup(name.Value) == nil:
			errs = append(errs, usagef("%s:%d: %.100q is no setting%s", p.config, name.Line, name.Value, nearest(name.Value, known)))
		case values[name.Value] != nil:
			errs = append(errs, usagef("%s:%d: %s is set a second time", p.config, name.Line, name.Value))
		default:
			values[name.Value] = value
		}
	}
	return values, errors.Join(errs...)
}

// serverFlags are the flags of serve.
func serverFlags() *pflag.FlagSet {
	f := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	new(settings).flags(f)
	return f
}

// nearest guesses at the flag that was meant.
func nearest(name string, flags *pflag.FlagSet) (guess string) {
	plain := func(s string) string {
		return strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(s))
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if a, b := plain(name), plain(f.Name); a == b || a == b+"s" || a+"s" == b {
			guess = ": " + f.Name + " is"
		}
	})
	return guess
}

// unknownVariables are those of the environment that look like settings and are
// none of any command. What Kubernetes sets for a service of our name is not meant.
func (p *program) unknownVariables(root *cobra.Command) (names []string) {
	known := map[string]bool{webhookSecret: true, gatewaySecret: true, variable("config"): true, variable("require-all"): true}
	eachFlag(root, func(f *pflag.Flag) { known[variable(f.Name)] = true })
	for name := range p.env() {
		ours := strings.HasPrefix(name, variable(""))
		if ours && !known[name] && !strings.HasPrefix(name, variable("service-")) && !strings.HasPrefix(name, variable("port")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A tolerant value keeps what is wrong with it, so that parsing goes on to the
// next mistake.
type tolerant struct {
	pflag.Value
	flag string
	p    *program
}

// tolerate makes all values tolerant that can be wrong.
func (p *program) tolerate(root *cobra.Command) {
	eachFlag(root, func(f *pflag.Flag) {
		if forms[f.Value.Type()] != "" {
			f.Value = tolerant{f.Value, f.Name, p}
		}
	})
}

// eachFlag goes through the flags of a command and those below it.
func eachFlag(c *cobra.Command, each func(*pflag.Flag)) {
	c.LocalFlags().VisitAll(each)
	for _, below := range c.Commands() {
		eachFlag(below, each)
	}
}

// forms are what values of a type look like.
var forms = map[string]string{
	"bool": "neither true nor false", "int": "no whole number", "int64": "no whole number",
	"float64": "no number", "duration": "no time such as 90s, 5m or 1h",
}

func (v tolerant) Set(text string) error {
	was := v.Value.String()
	if v.Value.Set(text) != nil {
		_ = v.Value.Set(was) // it may have been set to half of it
		source := v.p.source
		if source == "" {
			source = "--" + v.flag
		}
		v.p.wrong = append(v.p.wrong, usagef("%s: %.100q is %s", source, text, forms[v.Type()]))
	}
	return nil
}
