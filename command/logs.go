package command

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/command/problem"
	"github.com/tfdeps/tfdeps/command/view/terminal"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/spelling"
)

// The variables that ask for details and name a file for them. Those of tfdeps count before Terraform's, so
// that each of the programs can be asked by itself.
const (
	logVariable        = "TFDEPS_LOG"
	logPathVariable    = "TFDEPS_LOG_PATH"
	productLogVariable = "TF_LOG"
	productLogPath     = "TF_LOG_PATH"
)

// openLog returns where details go: nil if they aren't asked for, else to stderr, or to the end of the file that
// a variable names. Close is to be called at the end. The warnings are about a variable that
// can't be used.
func openLog(env cli.Environment, stderr io.Writer) (log *slog.Logger, close func(), warnings problem.List) {
	options, asJSON, warnings := logLevel(env, stderr)
	if options == nil {
		return nil, func() {}, warnings
	}
	to, close := stderr, func() {}
	if path := cmp.Or(env.Get(logPathVariable), env.Get(productLogPath)); path != "" {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
		if err != nil {
			fmt.Fprintf(stderr, "Error opening log file: %v\n", err)
		} else {
			to, close = file, func() { _ = file.Close() }
		}
	}
	return slog.New(terminal.LogHandler(to, asJSON, options)), close, warnings
}

// logLevel reads how much is asked for: nil is nothing. What Terraform says of its own variable goes to stderr.
func logLevel(env cli.Environment, stderr io.Writer) (options *slog.HandlerOptions, asJSON bool, warnings problem.List) {
	own := strings.ToLower(env.Get(logVariable))
	given := cmp.Or(own, strings.ToLower(env.Get(productLogVariable)))
	level := slog.LevelDebug
	switch given {
	case "debug":
	case "trace", "json":
		level = hosts.LevelTrace
	case "", "off", "info", "warn", "error":
		return nil, false, nil // there is nothing to tell at these
	default:
		if own != "" {
			return nil, false, problem.Warn("invalid_variable", "Invalid value of "+logVariable,
				"The value of %s is %q, and has no effect. It takes debug, trace, json or off.", logVariable, env.Get(logVariable))
		}
		// People set TF_LOG=1 to see everything: that is what Terraform takes it for, in these words.
		fmt.Fprintf(stderr, "[WARN] Invalid log level: %q. Defaulting to level: TRACE. Valid levels are: [TRACE DEBUG INFO WARN ERROR OFF]\n", strings.ToUpper(given))
		level = hosts.LevelTrace
	}
	return &slog.HandlerOptions{Level: level, ReplaceAttr: nameLevels}, given == "json", nil
}

// nameLevels gives the level that package slog has no name for the one that Terraform's log has.
func nameLevels(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.LevelKey && attr.Value.Any() == hosts.LevelTrace {
		attr.Value = slog.StringValue("TRACE")
	}
	return attr
}

// unknownVariables warns of variables that are named like those of tfdeps, and mean nothing to it.
func unknownVariables(env cli.Environment) (warnings problem.List) {
	var known, seen []string
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "TFDEPS_") || value == "" || slices.Contains(seen, name) ||
			name == passesVariable || strings.HasPrefix(name, cli.ArgumentsVariable+"_") { // for programs below this one, or for one command alone
			continue
		}
		seen = append(seen, name)
		if known == nil {
			known = ownVariables()
		}
		if slices.Contains(known, name) {
			continue
		}
		detail := fmt.Sprintf("tfdeps knows no variable %s, and does nothing with it.", name)
		if meant := spelling.Closest(name, known); meant != "" {
			detail += fmt.Sprintf(" Did you mean %s?", meant)
		}
		warnings = append(warnings, problem.Warningf("invalid_variable", "Unknown variable "+name,
			"%s\n\nThis command lists all variables:\n  tfdeps help", detail))
	}
	return warnings
}

// ownVariables are those that stand for options, and the others that tfdeps knows.
func ownVariables() []string {
	names := []string{
		"TFDEPS_ARCHIVE_CREDENTIALS", "TFDEPS_CACHE_DIR", "TFDEPS_CLI_ARGS", "TFDEPS_DOCUMENT_TIMEOUT", "TFDEPS_ENGINE", logVariable, logPathVariable,
		"TFDEPS_MIN_RATE", passthroughVariable, "TFDEPS_POLICY", "TFDEPS_PRODUCT", "TFDEPS_TERRAFORM_PATH", "TFDEPS_TERRAFORM_VERSION",
		"TFDEPS_TOFU_PATH", "TFDEPS_TOFU_VERSION", "TFDEPS_TRUSTED_KEYS",
	}
	for _, c := range commands() {
		if c.Flags == nil {
			continue
		}
		for _, row := range c.Flags() {
			if row.Variable != "" {
				names = append(names, row.Variable)
			}
		}
	}
	return names
}
