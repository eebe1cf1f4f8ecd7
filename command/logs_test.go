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

func TestOpenLog_ReadsItsVariables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, c := range []struct {
		env    string // variables, separated by blanks
		want   string // what is logged, at debug and at trace: "" is nothing
		where  string // a file; "": stderr
		warned bool
	}{
		{env: ""},
		{env: "TF_LOG=DEBUG", want: "level=DEBUG msg=d"},
		{env: "TFDEPS_LOG=debug", want: "level=DEBUG msg=d"},
		{env: "TFDEPS_LOG=Trace", want: "level=DEBUG msg=d|level=TRACE msg=t"},
		{env: "TF_LOG=json", want: `"level":"DEBUG","msg":"d"}|"level":"TRACE","msg":"t"}`},
		{env: "TFDEPS_LOG=off TF_LOG=trace"},
		{env: "TFDEPS_LOG=debug TF_LOG=trace", want: "level=DEBUG msg=d"},
		{env: "TF_LOG=info"},
		{env: "TF_LOG=something", want: `[WARN] Invalid log level: "SOMETHING". Defaulting to level: TRACE. |level=DEBUG msg=d|level=TRACE msg=t`},
		{env: "TFDEPS_LOG=off TF_LOG=1"},
		{env: "TFDEPS_LOG=something", warned: true},
		{env: "TF_LOG=debug TF_LOG_PATH=" + filepath.Join(dir, "a"), want: "msg=d", where: "a"},
		{env: "TF_LOG=debug TFDEPS_LOG_PATH=" + filepath.Join(dir, "b") + " TF_LOG_PATH=" + filepath.Join(dir, "none"), want: "msg=d", where: "b"},
		{env: "TFDEPS_LOG=debug TF_LOG_PATH=" + filepath.Join(dir, "none/c"), want: "Error opening log file: |msg=d"},
		{env: "TFDEPS_LOG_PATH=" + filepath.Join(dir, "none")},
	} {
		var stderr bytes.Buffer
		log, closeLog, warnings := openLog(cli.Environment(strings.Fields(c.env)), &stderr)
		if log != nil {
			log.Debug("d")
			log.Log(context.Background(), hosts.LevelTrace, "t")
			log.Log(context.Background(), slog.LevelDebug-8, "never")
		}
		closeLog()
		text := stderr.String()
		if c.where != "" {
			content, err := os.ReadFile(filepath.Join(dir, c.where))
			if err != nil || text != "" {
				t.Errorf("%s: %v, and on stderr %q", c.env, err, text)
			}
			text = string(content)
		}
		if (log == nil) != (c.want == "") || (len(warnings) > 0) != c.warned || c.want == "" && text != "" || strings.Contains(text, "never") {
			t.Errorf("%s: a log: %t, warnings %v, text %q", c.env, log != nil, warnings, text)
		}
		for want := range strings.SplitSeq(c.want, "|") {
			must.Contain(t, text, want, c.env)
		}
	}
	must.Refuse(os.Stat(filepath.Join(dir, "none")))(t, "a file was made that nothing is written to")
}
