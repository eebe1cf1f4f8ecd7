package command

import (
	"cmp"
	"context"
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
	"github.com/tfdeps/tfdeps/internal/wholefile"
)

// The variables that turn on the log and name its file. Those of tfdeps take precedence over Terraform's, so
// that each program can log by itself.
const (
	logVariable        = "TFDEPS_LOG"
	logPathVariable    = "TFDEPS_LOG_PATH"
	productLogVariable = "TF_LOG"
	productLogPath     = "TF_LOG_PATH"
)

// openLog returns the log, which goes to stderr or to the end of the file that
// a variable names, or nil if the log is off. close has to be called at the end. The warnings are about an invalid
// variable. If the file is a pipe that nobody reads, openLog waits until ctx is done.
func openLog(ctx context.Context, env cli.Environment, stderr io.Writer) (log *slog.Logger, close func(), warnings problem.List) {
	options, asJSON, warnings := logLevel(env, stderr)
	if options == nil {
		return nil, func() {}, warnings
	}
	to, close := stderr, func() {}
	if path := cmp.Or(env.Get(logPathVariable), env.Get(productLogPath)); path != "" {
		file, err := wholefile.Open(ctx, path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
		if err != nil {
			fmt.Fprintf(stderr, "Error opening log file: %v\n", err)
		} else {
			to, close = file, func() { _ = file.Close() }
		}
	}
	return slog.New(terminal.LogHandler(to, asJSON, options)), close, warnings
}

// logLevel reads the log level; options is nil if the log is off. Terraform's warning about TF_LOG goes to stderr.
func logLevel(env cli.Environment, stderr io.Writer) (options *slog.HandlerOptions, asJSON bool, warnings problem.List) {
	own := strings.ToLower(env.Get(logVariable))
	given := cmp.Or(own, strings.ToLower(env.Get(productLogVariable)))
	level := slog.LevelDebug
	switch given {
	case "debug":
	case "trace", "json":
		level = hosts.LevelTrace
	case "", "off", "info", "warn", "error":
		return nil, false, nil // tfdeps logs nothing at these levels
	default:
		if own != "" {
			return nil, false, problem.Warn("invalid_variable", "Invalid value of "+logVariable,
				"The value of %s is %q, and has no effect. It takes debug, trace, json or off.", logVariable, env.Get(logVariable))
		}
		// People set TF_LOG=1 to see everything. Terraform logs at TRACE then, with this warning.
		fmt.Fprintf(stderr, "[WARN] Invalid log level: %q. Defaulting to level: TRACE. Valid levels are: [TRACE DEBUG INFO WARN ERROR OFF]\n", strings.ToUpper(given))
		level = hosts.LevelTrace
	}
	return &slog.HandlerOptions{Level: level, ReplaceAttr: nameLevels}, given == "json", nil
}

// nameLevels gives the trace level, which slog has no name for, the name of Terraform's log.
func nameLevels(groups []string, attr slog.Attr) slog.Attr {
	if len(groups) == 0 && attr.Key == slog.LevelKey && attr.Value.Any() == hosts.LevelTrace {
		attr.Value = slog.StringValue("TRACE")
	}
	return attr
}

// unknownVariables warns of TFDEPS_ variables that tfdeps doesn't know, and of limits that are no numbers.
func unknownVariables(env cli.Environment) (warnings problem.List) {
	var seen []string
	own, all := ownVariables(), false
	for _, entry := range env {
		name, value, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "TFDEPS_") || value == "" || slices.Contains(seen, name) ||
			name == passesVariable || strings.HasPrefix(name, cli.ArgumentsVariable+"_") { // for child processes, or for one command only
			continue
		}
		seen = append(seen, name)
		if !all && !slices.Contains(own, name) {
			own, all = append(own, optionVariables()...), true
		}
		if slices.Contains(own, name) {
			if (name == "TFDEPS_DOCUMENT_TIMEOUT" || name == "TFDEPS_MIN_RATE") && number(value) == 0 {
				warnings = append(warnings, problem.Warningf("invalid_variable", "Invalid value of "+name,
					"%q has no effect, because it is no whole number above 0: the limits stay 60 seconds, and 1024 bytes a second for archives.", value))
			}
			continue
		}
		detail := fmt.Sprintf("tfdeps knows no variable %s, and does nothing with it.", name)
		if meant := spelling.Closest(name, own); meant != "" {
			detail += fmt.Sprintf(" Did you mean %s?", meant)
		}
		warnings = append(warnings, problem.Warningf("invalid_variable", "Unknown variable "+name,
			"%s\n\nThis command lists all variables:\n  tfdeps help", detail))
	}
	return warnings
}

// ownVariables returns the variables that tfdeps knows, without those of options.
func ownVariables() []string {
	return []string{
		"TFDEPS_ARCHIVE_CREDENTIALS", "TFDEPS_CACHE_DIR", "TFDEPS_CLI_ARGS", "TFDEPS_DOCUMENT_TIMEOUT", "TFDEPS_ENGINE", logVariable, logPathVariable,
		"TFDEPS_MIN_RATE", passthroughVariable, "TFDEPS_POLICY", "TFDEPS_PRODUCT", "TFDEPS_TERRAFORM_PATH", "TFDEPS_TERRAFORM_VERSION",
		"TFDEPS_TOFU_PATH", "TFDEPS_TOFU_VERSION", "TFDEPS_TRUSTED_KEYS",
	}
}

// optionVariables returns the variables of the options of all commands. Making them takes 3 % of an init with nothing to do.
func optionVariables() (names []string) {
	for _, c := range commands() {
		for _, row := range c.Flags() {
			if row.Variable != "" {
				names = append(names, row.Variable)
			}
		}
	}
	return names
}
