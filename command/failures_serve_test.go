package command

import (
	"encoding/json"
	"net"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tfdeps/tfdeps/internal/must"
)

// TestServe_FailsInJSONLines holds what serve -json prints on stderr against its log, each line of which is an object.
func TestServe_FailsInJSONLines(t *testing.T) {
	w := newFailing(t, failure{files: map[string]string{"mirror": "a file"}})
	w.Chdir(w.dir)
	w.set("TFDEPS_OFLINE=1") // which is warned of
	out, text, code := w.main("serve", "-json", "-listen=127.0.0.1:0", "mirror")
	var codes []string
	for line := range strings.Lines(text) {
		var said struct{ Level, Msg, Detail, Code string }
		if err := json.Unmarshal([]byte(line), &said); err != nil || said.Msg == "" || said.Detail == "" {
			t.Errorf("%q: %v", line, err)
		}
		codes = append(codes, said.Level+" "+said.Code)
	}
	if want := []string{"WARN invalid_variable", "ERROR serve_failed"}; code != 1 || out != "" || !slices.Equal(codes, want) {
		t.Errorf("exit code %d, %q on stdout, codes %q, want %q", code, out, codes, want)
	}
}

// serveFailures are about the server, which has to say at its start what it can't do later.
func serveFailures() map[string]failure {
	file := files{"mirror": "a file", "notes.txt": "no certificate", "tokens": "# none yet\n"}
	return map[string]failure{
		"serve_at_a_port_in_use": {setUp: func(w *failing) {
			listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(w)
			w.Cleanup(func() { _ = listener.Close() })
			w.set("TF_CLI_ARGS_serve=-listen=" + listener.Addr().String())
		}},
		"serve_with_a_certificate_that_is_none": {files: file},
		"serve_with_a_certificate_alone":        {files: file},
		"serve_with_no_token":                   {files: file},
		"serve_with_tokens_and_a_bucket_that_is_down": {files: map[string]string{"tokens": "a\n"}, setUp: func(w *failing) {
			w.set("AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b")
			w.Setenv("AWS_ACCESS_KEY_ID", "a")
			w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
			w.Setenv("AWS_MAX_ATTEMPTS", "1")
		}},
		"serve_from_a_file":       {files: file},
		"serve_from_below_a_file": {files: file},
		"serve_for_a_file_that_is_no_program": {files: file, setUp: func(w *failing) {
			must.Succeed(w, os.Chmod("notes.txt", 0o600))
		}},
	}
}
