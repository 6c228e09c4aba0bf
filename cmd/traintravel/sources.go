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
// from the file that --config names. The error names all values that are wrong. Of two flags that
// exclude each other, one that is set overrides the other where that comes from farther away.

// maxConfig is how long a file of settings can be, in bytes.
const maxConfig = 1 << 20

// settle gives the flags of a command their values from the environment and the file of
// settings, where the command line has none. The error names all values that are wrong.
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
	nearer := rivalsOfGiven(flags)
	flags.VisitAll(func(f *pflag.Flag) {
		if v, ok := env[variable(f.Name)]; ok && !f.Changed && isSetting(f) && !nearer[f.Name] {
			set(f, variable(f.Name), func() error { return flags.Set(f.Name, v) })
		}
	})
	file, err := p.readConfig()
	if err != nil {
		errs = append(errs, err)
	}
	nearer = rivalsOfGiven(flags)
	for _, name := range slices.Sorted(maps.Keys(file)) {
		f, value := flags.Lookup(name), file[name]
		if f == nil || f.Changed || nearer[name] {
			continue
		}
		set(f, fmt.Sprintf("%s:%d: %s", p.config, value.Line, name), func() error { return setFromFile(flags, f, value) })
	}
	if c.PreRunE != nil { // called here, so that the error names what it finds too
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
		return errors.New("no value: give one, or remove the line")
	case value.Kind == yaml.ScalarNode && isList:
		f.Changed = true
		return list.Replace([]string{value.Value})
	case value.Kind == yaml.ScalarNode:
		return flags.Set(f.Name, value.Value)
	case value.Kind != yaml.SequenceNode || !isList:
		return errors.New("want one value, such as a number or a text")
	}
	var values []string
	if err := value.Decode(&values); err != nil {
		return errors.New("want a list of texts")
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
		return nil, fmt.Errorf("cannot read --config: %w", err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read --config: %w", err)
	}
	if len(text) > maxConfig {
		return nil, usagef("invalid --config: %s is larger than %d bytes", p.config, maxConfig)
	}
	var doc yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil // comments alone
	} else if err != nil {
		return nil, usagef("invalid --config %s: %w", p.config, err)
	}
	if err := d.Decode(&yaml.Node{}); !errors.Is(err, io.EOF) {
		return nil, usagef("invalid --config: %s has more than one YAML document", p.config)
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, usagef("invalid --config %s:%d: want settings, in lines such as \"addr: 127.0.0.1:8080\"", p.config, top.Line)
	}
	var errs []error
	known := serverFlags()
	values := map[string]*yaml.Node{}
	for i := 0; i < len(top.Content); i += 2 {
		name, value := top.Content[i], top.Content[i+1]
		switch {
		case known.Lookup(name.Value) == nil:
			errs = append(errs, usagef("%s:%d: unknown setting %.100q%s", p.config, name.Line, name.Value, didYouMean(name.Value, "", flagNames(known))))
		case values[name.Value] != nil:
			errs = append(errs, usagef("%s:%d: duplicate setting %s", p.config, name.Line, name.Value))
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

// isSetting says whether a flag can be set in the environment. --help and --version are
// for the command line: TRAINTRAVEL_VERSION may be anything.
func isSetting(f *pflag.Flag) bool { return f.Name != "help" && f.Name != "version" }

// An unknownVariable is a variable of the environment that looks like a setting and is not one
// of any command, with the one that was probably meant, or "".
type unknownVariable struct{ name, meant string }

func (v unknownVariable) String() string {
	text := "unknown environment variable " + v.name
	if v.meant != "" {
		text += ": did you mean " + v.meant + "?"
	}
	return text
}

// attrs are the attributes of a line of the log.
func (v unknownVariable) attrs() []any {
	attrs := []any{"variable", v.name}
	if v.meant != "" {
		attrs = append(attrs, "did_you_mean", v.meant)
	}
	return attrs
}

// unknownVariables finds variables whose names begin with TRAINTRAVEL_ and that no command
// reads. Those that Kubernetes sets for a service called traintravel are left out.
func (p *program) unknownVariables(root *cobra.Command) (unknown []unknownVariable) {
	known := []string{webhookSecret, gatewaySecret, variable("config")}
	eachCommand(root, func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if isSetting(f) {
				known = append(known, variable(f.Name))
			}
		})
	})
	for name := range p.env() {
		ours := strings.HasPrefix(name, variable("")) && !strings.HasPrefix(name, variable("service-")) && !strings.HasPrefix(name, variable("port"))
		if ours && name != variable("require-all") && !slices.Contains(known, name) {
			unknown = append(unknown, unknownVariable{name, nearestVariable(name, known)})
		}
	}
	slices.SortFunc(unknown, func(a, b unknownVariable) int { return strings.Compare(a.name, b.name) })
	return unknown
}

// A tolerant value notes an invalid value instead of refusing it, so that parsing goes on and
// finds the next one.
type tolerant struct {
	pflag.Value
	flag string
	p    *program
}

// nearestVariable is nearest without the prefix that all variables have.
func nearestVariable(name string, known []string) string {
	var short []string
	for _, k := range known {
		short = append(short, strings.TrimPrefix(k, variable("")))
	}
	if best := nearest(strings.TrimPrefix(name, variable("")), short); best != "" {
		return variable("") + best
	}
	return ""
}

// tolerate makes tolerant all values that have a form.
func (p *program) tolerate(root *cobra.Command) {
	eachCommand(root, func(c *cobra.Command) {
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if forms[f.Value.Type()] != "" {
				f.Value = tolerant{f.Value, f.Name, p}
			}
		})
	})
}

// forms say what the values of each type look like.
var forms = map[string]string{
	"bool": "true or false", "int": "a whole number", "int64": "a whole number",
	"float64": "a number", "duration": "a duration such as 90s, 5m or 1h", "bytes": "a number of bytes such as 500MiB or 2GiB",
}

func (v tolerant) Set(text string) error {
	was := v.Value.String()
	if v.Value.Set(text) != nil {
		_ = v.Value.Set(was) // it may have been set to half of it
		source := v.p.source
		if source == "" {
			source = "--" + v.flag
		}
		v.p.wrong = append(v.p.wrong, invalidValue(source, text, forms[v.Type()]))
	}
	return nil
}
