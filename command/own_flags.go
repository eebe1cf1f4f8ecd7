package command

import (
	"errors"
	"flag"
	"fmt"
	"strconv"
	"strings"
)

// ownFlag is an option that the real tool doesn't have, or a variable. Whoever
// calls us by way of a program that knows the real tool's options only, sets the
// variable; what is typed counts more.
type ownFlag struct {
	name     string // "offline"; "": there is the variable only
	variable string // "TFDEPS_OFFLINE"
	boolean  bool   // 1, true, 0 or false; else any text
	commands string // that have the option, with spaces between, and dashes in their names; "": it stands before the command
	meaning  string
}

// Variables that are read apart from any option.
const (
	passthroughVariable        = "TFDEPS_PASSTHROUGH" // read before there is a command
	productVariable            = "TFDEPS_PRODUCT"
	oldProductVariable         = "TFDEPS_ENGINE" // what productVariable was called
	realVariable               = "TFDEPS_TERRAFORM_PATH"
	productVersionVariable     = "TFDEPS_TERRAFORM_VERSION"
	realTofuVariable           = "TFDEPS_TOFU_PATH"
	tofuVersionVariable        = "TFDEPS_TOFU_VERSION"
	cacheDirVariable           = "TFDEPS_CACHE_DIR"
	archiveCredentialsVariable = "TFDEPS_ARCHIVE_CREDENTIALS"
	trustedKeysVariable        = "TFDEPS_TRUSTED_KEYS"
	hashesVariable             = "TFDEPS_HASHES"   // of which not all commands have the other options
	argumentsVariable          = "TFDEPS_CLI_ARGS" // and with _ and the command behind it
)

// ownFlags are all of them. An empty variable is none.
var ownFlags = []ownFlag{
	{"check", "TFDEPS_CHECK", true, "init", "say whether there is anything to do, and do nothing"},
	{"offline", "TFDEPS_OFFLINE", true, "init get cache-add", "send no request"},
	{"frozen", "TFDEPS_FROZEN", true, "init", "change no lock file and send no request"},
	{"lock-modules", "TFDEPS_LOCK_MODULES", true, "init", "record which modules were fetched"},
	{"mirror-fallback", "TFDEPS_MIRROR_FALLBACK", false, "init", "what it means that a source fails"},
	{"no-shared-cache", "TFDEPS_NO_SHARED_CACHE", true, "init", "share no packages with other directories"},
	{"link", "TFDEPS_LINK", false, "init", "how packages get out of the shared cache"},
	{"platform", "TFDEPS_PLATFORM", false, "init", "for which platforms the lock file has to be good, too"},
	{"hashes", hashesVariable, false, "init providers-lock vendor", "whom to believe about hashes of what isn't read"},
	{"verify", "TFDEPS_VERIFY", true, "init", "hash all packages"},
	{"progress", "TFDEPS_PROGRESS", false, "init", "how downloads are shown"},
	{"with", "TFDEPS_WITH", false, "init", "who initializes the backend"},
	{"state", "TFDEPS_STATE", false, "init providers", "the state that tells which providers are needed"},
	{"passthrough", passthroughVariable, true, "", "leave other commands to the real program"},

	{variable: productVariable, meaning: "terraform or tofu, whose work to do"},
	{variable: oldProductVariable, meaning: "the same, where that one is not set"},
	{variable: realVariable, meaning: "the real terraform"},
	{variable: productVersionVariable, meaning: "the version of Terraform whose work to do"},
	{variable: realTofuVariable, meaning: "the real tofu"},
	{variable: tofuVersionVariable, meaning: "the version of OpenTofu whose work to do"},
	{variable: cacheDirVariable, meaning: "where the shared cache is"},
	{variable: archiveCredentialsVariable, meaning: "whose packages get tokens"},
	{variable: trustedKeysVariable, meaning: "whose signatures count in mirrors"},
	{variable: argumentsVariable, meaning: "more arguments"},
}

// setBy says for options of ours who set them: "-offline", or "TFDEPS_OFFLINE".
// Others aren't in it.
type setBy map[string]string

// parseOptionsOrVariables is parseOptions for a command that has options of ours.
func parseOptionsOrVariables(flags *flag.FlagSet, args []string, env Environment) (setBy, error) {
	if err := parseOptions(flags, args); err != nil {
		return nil, err
	}
	by, err := env.fill(flags)
	if err != nil {
		return nil, &usageError{text: "Error: " + err.Error()}
	}
	return by, nil
}

// fill gives options that weren't typed the values of their variables. It comes
// after the arguments were parsed. The error tells of all values that can't be
// used, each on a line.
func (e Environment) fill(flags *flag.FlagSet) (setBy, error) {
	typed := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { typed[f.Name] = true })
	by := setBy{}
	var errs []error
	for _, own := range ownFlags {
		value := e.Get(own.variable)
		switch {
		case own.name == "" || flags.Lookup(own.name) == nil:
		case typed[own.name]:
			by[own.name] = "-" + own.name
		case value != "":
			by[own.name] = own.variable
			errs = append(errs, own.set(flags, value))
		}
	}
	return by, errors.Join(errs...)
}

// set gives the option the value of its variable.
func (o ownFlag) set(flags *flag.FlagSet, value string) error {
	if o.boolean {
		on, err := parseSwitch(o.variable, value)
		if err != nil {
			return fmt.Errorf("%w (as the option -%s: %s)", err, o.name, o.meaning)
		}
		value = strconv.FormatBool(on)
	}
	if err := flags.Set(o.name, value); err != nil {
		return fmt.Errorf("the value of %s can't be used: %w", o.variable, err)
	}
	return nil
}

// parseSwitch reads the value of a variable that is on or off; "" is off.
func parseSwitch(variable, value string) (on bool, err error) {
	switch strings.ToLower(value) {
	case "1", "true":
		return true, nil
	case "", "0", "false":
		return false, nil
	}
	return false, fmt.Errorf("the value of %s is %q, and has to be 1, true, 0 or false", variable, value)
}
