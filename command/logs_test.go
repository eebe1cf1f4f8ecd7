package command

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/internal/hosts"
	"github.com/tfdeps/tfdeps/internal/must"
)

// TestOpenLog_ReadsItsVariables has variables, and parts of the log at debug and at trace, separated by bars: on stderr if no file is named.
// "" means no log, and "warned" a warning.
func TestOpenLog_ReadsItsVariables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for env, want := range map[string]string{
		"":                               "",
		"TF_LOG=DEBUG":                   "level=DEBUG msg=d",
		"TFDEPS_LOG=debug":               "level=DEBUG msg=d",
		"TFDEPS_LOG=Trace":               "level=DEBUG msg=d|level=TRACE msg=t",
		"TF_LOG=json":                    `"level":"DEBUG","msg":"d"}|"level":"TRACE","msg":"t"}`,
		"TFDEPS_LOG=off TF_LOG=trace":    "",
		"TFDEPS_LOG=debug TF_LOG=trace":  "level=DEBUG msg=d",
		"TF_LOG=info":                    "",
		"TF_LOG=something":               `[WARN] Invalid log level: "SOMETHING". Defaulting to level: TRACE. |level=DEBUG msg=d|level=TRACE msg=t`,
		"TFDEPS_LOG=off TF_LOG=1":        "",
		"TFDEPS_LOG=something":           "warned",
		"TF_LOG=debug TF_LOG_PATH=DIR/a": "msg=d, in a",
		"TF_LOG=debug TFDEPS_LOG_PATH=DIR/b TF_LOG_PATH=DIR/none": "msg=d, in b",
		"TFDEPS_LOG=debug TF_LOG_PATH=DIR/none/c":                 "Error opening log file: |msg=d",
		"TFDEPS_LOG_PATH=DIR/none":                                "",
	} {
		var stderr bytes.Buffer
		log, closeLog, warnings := openLog(t.Context(), cli.Environment(strings.Fields(strings.ReplaceAll(env, "DIR", dir))), &stderr)
		if log != nil {
			log.Debug("d")
			log.Log(context.Background(), hosts.LevelTrace, "t")
			log.Log(context.Background(), slog.LevelDebug-8, "never")
		}
		closeLog()
		must.Equal(t, len(warnings) > 0, want == "warned", env)
		parts, file, _ := strings.Cut(strings.TrimPrefix(want, "warned"), ", in ")
		text := stderr.String()
		if file != "" {
			must.Equal(t, text, "", env)
			text = string(must.Get(os.ReadFile(filepath.Join(dir, file)))(t))
		}
		if (log == nil) != (parts == "") || parts == "" && text != "" || strings.Contains(text, "never") {
			t.Errorf("%s: a log: %t, text %q", env, log != nil, text)
		}
		for part := range strings.SplitSeq(parts, "|") {
			must.Contain(t, text, part, env)
		}
	}
	must.Refuse(os.Stat(filepath.Join(dir, "none")))(t, "a file was made that nothing is written to")
}
