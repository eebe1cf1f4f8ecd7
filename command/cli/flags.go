package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Flags are the options of a command, in the order of its help. Both the parser
// and the help are made from this table.
type Flags []Flag

// Flag is an option, or a row of the help about a further use of one.
type Flag struct {
	Name string // "upgrade"

	// Value reads the option. It is nil for rows that only the help has:
	// a further use of another row's option, and -no-color, which is removed
	// from the arguments before a command gets them.
	Value Value

	Sep     string      // between the name and what follows it: "=", " ", or "" if nothing follows
	Arg     string      // what the help shows there: "DIR", "false"
	Literal bool        // Arg is a value itself, and no word for one
	Label   string      // what the help shows instead of Name and Arg; "" means these
	Help    string      // what the option does, in one sentence without its full stop
	Choices [][2]string // values with a description each
	More    string      // further sentences, below the choices if there are any
	Alias   string      // another name of the option, or ""

	// Note is the heading of a list at the end of the help, which has the option by
	// name only. Such an option has no Help.
	Note string

	// Variable sets the option if it isn't typed, for callers that only
	// know Terraform's options. Meaning describes its value in
	// messages. An empty variable counts as unset.
	Variable, Meaning string

	word  string  // a value beside true and false, or ""
	group string  // the heading in the help with all options; "" means the first one
	by    *string // gets the name of the option or the variable, if the option is on; may be nil
}

// NoEffect is the Note of options of Terraform that have no effect here.
const NoEffect = "Accepted without effect"

// Option returns the row of an option; usage is its name and what follows it, as in "dir=DIR", and more are the sentences after the first.
func Option(usage string, value Value, help string, more ...string) Flag {
	end := strings.IndexAny(usage+"=", "= ")
	from := min(end+1, len(usage))
	return Flag{Name: usage[:end], Sep: usage[end:from], Arg: usage[from:], Value: value, Help: help, More: strings.Join(more, " ")}
}

// Word is Option for one that has a Literal, as in "lockfile=readonly".
func Word(usage string, value Value, help string, more ...string) Flag {
	f := Option(usage, value, help, more...)
	f.Literal = true
	return f
}

// Switch is Word for one that is on or off, Text is Option for one with any text; the present value is the default.
func Switch(usage string, p *bool, help string, more ...string) Flag {
	return Word(usage, Bool(p), help, more...)
}
func Text(usage string, p *string, help string, more ...string) Flag {
	return Option(usage, String(p), help, more...)
}

// SwitchOr is Switch for an option that takes one more word, which sets *is.
func SwitchOr(usage string, on *bool, word string, is *bool, help string, more ...string) Flag {
	f := Option(usage, BoolFunc(func(value string) error {
		given, err := strconv.ParseBool(value)
		if *on, *is = given, value == word; err != nil && !*is {
			return errors.New("it has to be true, false or " + word)
		}
		return nil
	}), help, more...)
	f.word = word
	return f
}

// Offline is the row of -offline; *by gets the option or the variable that set it, and stays "" if it isn't set.
func Offline(by *string, help string, more ...string) Flag {
	f := Switch("offline", new(bool), help, more...).Or("TFDEPS_OFFLINE", "send no request")
	f.by = by
	return f
}

// Or returns the row with a variable that sets the option, and its meaning.
func (f Flag) Or(variable, meaning string) Flag {
	f.Variable, f.Meaning = variable, meaning
	return f
}

// Below returns the rows below a heading of the help.
func (f Flags) Below(heading string) Flags {
	below := slices.Clone(f)
	for i := range below {
		below[i].group = heading
	}
	return below
}

// Value reads an option: it adds the option to a set.
type Value func(set *flag.FlagSet, name string)

// Bool is an option that is on or off; the present value is the default.
func Bool(p *bool) Value {
	return func(set *flag.FlagSet, name string) { set.BoolVar(p, name, *p, "") }
}

// String is an option with any text; the present value is the default.
func String(p *string) Value {
	return func(set *flag.FlagSet, name string) { set.StringVar(p, name, *p, "") }
}

// Positive is an option with a whole number above 0.
func Positive(p *int) Value {
	return Func(func(value string) (err error) {
		if *p, err = strconv.Atoi(value); err != nil || *p <= 0 {
			return errors.New("it has to be a whole number above 0")
		}
		return nil
	})
}

// Duration is an option with a duration; the present value is the default.
func Duration(p *time.Duration) Value {
	return func(set *flag.FlagSet, name string) { set.DurationVar(p, name, *p, "") }
}

// Func is an option whose values a function gets, one after the other.
func Func(take func(string) error) Value {
	return func(set *flag.FlagSet, name string) { set.Func(name, "", take) }
}

// Parsed is an option whose value a function parses.
func Parsed[T any](p *T, parse func(string) (T, error)) Value {
	return Func(func(given string) (err error) {
		*p, err = parse(given)
		return err
	})
}

// Each is Parsed for an option that may be given more than once.
func Each[T any](p *[]T, parse func(string) (T, error)) Value {
	return Func(func(given string) error {
		value, err := parse(given)
		*p = append(*p, value)
		return err
	})
}

// BoolFunc is Func for an option that may have no value, which then is
// "true".
func BoolFunc(take func(string) error) Value {
	return func(set *flag.FlagSet, name string) { set.BoolFunc(name, "", take) }
}

// Strings is an option that may be given more than once.
func Strings(p *[]string) Value {
	return Each(p, func(value string) (string, error) { return value, nil })
}

// OptionalBool is an option that is on, off, or nil if it isn't given.
func OptionalBool(p **bool) Value {
	return BoolFunc(func(value string) error {
		b, err := strconv.ParseBool(value)
		if *p = &b; err != nil {
			err = errors.New("it has to be true or false")
		}
		return err
	})
}

// Paths is an option with paths that may be given more than once. *p isn't
// nil if it was given.
func Paths(p *[]string) Value {
	return Each(p, func(path string) (string, error) {
		if path == "" || strings.HasPrefix(path, "-") {
			return "", errors.New("it has to be a directory or a file")
		}
		return path, nil
	})
}

// AnyBool is an option whose value doesn't matter.
func AnyBool() Value { return Bool(new(bool)) }

// Given has the options and operands of a command's arguments.
type Given struct {
	Operands []string // the arguments behind the options, or with Mixed between them
	By       SetBy    // what set each option; nil before Fill

	flags Flags
	set   *flag.FlagSet
}

// Parse reads options, and takes the first other argument and all after it as
// operands. The error is a *UsageError.
func (f Flags) Parse(args []string) (Given, error) {
	g := Given{flags: f, set: flag.NewFlagSet("", flag.ContinueOnError)}
	g.set.SetOutput(io.Discard)
	g.set.Usage = func() {}
	for _, row := range f {
		if row.Value == nil {
			continue
		}
		row.Value(g.set, row.Name)
		if row.Alias != "" {
			row.Value(g.set, row.Alias)
		}
	}
	if err := g.parse(args); err != nil {
		return g, err
	}
	g.Operands = g.set.Args()
	return g, nil
}

// parse reads options one by one, because an error of package flag doesn't have the option's name as data.
func (g Given) parse(args []string) error {
	name, count := "", len(args)
	if count > 0 {
		name = OptionName(args[0])
	}
	option := g.set.Lookup(name)
	if name != "" {
		count = 1
	}
	if option != nil && !isSwitch(option) && !strings.Contains(args[0], "=") {
		count = min(2, len(args))
	}
	err, strange := g.set.Parse(args[:count]), false
	switch {
	case err == nil && count < len(args):
		return g.parse(args[count:])
	case err == nil:
		return nil
	case errors.Is(err, flag.ErrHelp):
		err = errors.New("the only value of the option -help is all")
	case name != "" && option == nil:
		meant := suggestion(g.set, name)
		if strange = meant == ""; !strange {
			err = fmt.Errorf("%w\n%s", err, meant)
		}
	}
	return &UsageError{Summary: badFlags, Text: err.Error(), Cause: err, Options: []string{"-" + name}, strange: strange}
}

// OptionName returns the name in an argument such as "-link=copy", or "" if it is no option.
func OptionName(arg string) string {
	if !strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "---") {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return name
}

// Alone reads the arguments of a command without operands, and
// then the variables of its options. The error is a *UsageError.
func (f Flags) Alone(args []string, env Environment) (Given, error) {
	given, err := f.Leading(args, env)
	if err == nil && len(given.Operands) > 0 {
		err = TooMany(given.Operands[0])
	}
	return given, err
}

// Leading reads options and the operands after them, and then the variables. The error is a *UsageError.
func (f Flags) Leading(args []string, env Environment) (Given, error) {
	given, err := f.Parse(args)
	if err == nil {
		given.By, err = given.Fill(env)
	}
	return given, err
}

// Mixed reads options and operands in any order, and then the variables of
// options. The error is a *UsageError.
func (f Flags) Mixed(args []string, env Environment) (Given, error) {
	given, err := f.Parse(args)
	if err == nil {
		given.Operands, err = given.Rest()
	}
	if err == nil {
		given.By, err = given.Fill(env)
	}
	return given, err
}

// Rest reads the options between and after operands, and returns all operands. The error is a *UsageError.
func (g Given) Rest() (operands []string, err error) {
	for err == nil && g.set.NArg() > 0 {
		operands = append(operands, g.set.Arg(0))
		err = g.parse(g.set.Args()[1:])
	}
	return operands, err
}

// Has reports whether the option was given: typed, or after Fill by a variable.
func (g Given) Has(name string) bool {
	has := false
	g.set.Visit(func(f *flag.Flag) { has = has || f.Name == name })
	return has
}

// Names returns the options that were given, sorted.
func (g Given) Names() (names []string) {
	g.set.Visit(func(f *flag.Flag) { names = append(names, f.Name) })
	return names
}

// Text returns the option's value as it would be typed.
func (g Given) Text(name string) string { return g.set.Lookup(name).Value.String() }

// SetBy has, for each set option that has a variable, what set it: "-offline", or
// "TFDEPS_OFFLINE".
type SetBy map[string]string

// Fill gives options that weren't typed the values of their variables. The error
// is a *UsageError, and names all values that can't be used, each on a line.
func (g Given) Fill(env Environment) (SetBy, error) {
	by := SetBy{}
	var errs []error
	for _, row := range g.flags {
		switch value := env.Get(row.Variable); {
		case row.Variable == "" || row.Value == nil:
		case g.Has(row.Name):
			by[row.Name] = "-" + row.Name
		case value != "":
			by[row.Name] = row.Variable
			errs = append(errs, row.fill(g.set, value))
		}
		if row.by != nil && g.Text(row.Name) == "true" {
			*row.by = by[row.Name]
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, Usagef("%w", err)
	}
	return by, nil
}

// isSwitch reports whether an option may be given without a value.
func isSwitch(option *flag.Flag) bool {
	is, ok := option.Value.(interface{ IsBoolFlag() bool })
	return ok && is.IsBoolFlag()
}

// fill sets the option from its variable.
func (f Flag) fill(set *flag.FlagSet, value string) error {
	if isSwitch(set.Lookup(f.Name)) && value != f.word {
		on, err := ParseSwitch(f.Variable, value)
		if err != nil && f.word != "" {
			err = fmt.Errorf("%w, or %s", err, f.word)
		}
		if err != nil {
			return fmt.Errorf("%w (as the option -%s: %s)", err, f.Name, f.Meaning)
		}
		value = strconv.FormatBool(on)
	}
	if err := set.Set(f.Name, value); err != nil {
		return fmt.Errorf("the value of %s can't be used: %w", f.Variable, err)
	}
	return nil
}

// ParseSwitch reads the value of a variable that is on or off; "" is off.
func ParseSwitch(variable, value string) (on bool, err error) {
	switch strings.ToLower(value) {
	case "1", "true":
		return true, nil
	case "", "0", "false":
		return false, nil
	}
	return false, fmt.Errorf("the value of %s is %q, and has to be 1, true, 0 or false", variable, value)
}
