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
func serveFailures() []failure {
	const here = "serve -listen=127.0.0.1:0 "
	file := map[string]string{"mirror": "a file", "notes.txt": "no certificate", "tokens": "# none yet\n"}
	return []failure{
		{name: "serve_without_a_place", args: "serve -- "},
		{name: "serve_without_a_port", args: "serve -listen=8080 mirror"},
		{name: "serve_at_an_invalid_port", args: "serve -listen=:99999 mirror"},
		{name: "serve_at_an_unknown_name", args: "serve -listen=registry..example.com:80 mirror"},
		{name: "serve_at_another_machine", args: "serve -listen=192.0.2.1:8080 mirror"},
		{name: "serve_at_a_port_in_use", args: "serve mirror", setUp: func(w *failing) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			must.Succeed(w, err)
			w.Cleanup(func() { _ = listener.Close() })
			w.set("TF_CLI_ARGS_serve=-listen=" + listener.Addr().String())
		}},
		{name: "serve_without_the_certificate", args: here + "-tls-cert=none.pem -tls-key=none.key mirror"},
		{name: "serve_with_a_certificate_that_is_none", files: file, args: here + "-tls-cert=notes.txt -tls-key=notes.txt packages"},
		{name: "serve_with_a_certificate_alone", files: file, args: here + "-tls-cert=notes.txt packages"},
		{name: "serve_without_the_tokens", args: here + "-tokens=none.txt packages"},
		{name: "serve_with_no_token", files: file, args: here + "-tokens=tokens packages"},
		{name: "serve_with_tokens_and_a_bucket_that_is_down", files: map[string]string{"tokens": "a\n"}, args: here + "-tokens=tokens s3://bucket/mirror?region=eu-west-1&endpoint=http://127.0.0.1:1", setUp: func(w *failing) {
			w.set("AWS_ACCESS_KEY_ID=a", "AWS_SECRET_ACCESS_KEY=b")
			w.Setenv("AWS_ACCESS_KEY_ID", "a")
			w.Setenv("AWS_SECRET_ACCESS_KEY", "b")
			w.Setenv("AWS_MAX_ATTEMPTS", "1")
		}},
		{name: "serve_from_a_bucket_with_a_parameter", args: here + "gs://bucket/mirror?region=eu"},
		{name: "serve_from_a_file", files: file, args: here + "mirror"},
		{name: "serve_from_below_a_file", files: file, args: here + "mirror/packages"},
		{name: "serve_with_a_size_without_a_unit", args: here + "-max-size=200 packages"},
		{name: "serve_with_an_invalid_pattern", args: here + "-include=acme//tiny packages"},
		{name: "serve_from_an_oci_registry", args: here + "oci://registry.example.com/tfdeps"},
		{name: "serve_for_a_missing_command", args: here + "packages -- nosuchcommand"},
		{name: "serve_for_a_file_that_is_no_program", files: file, args: here + "packages -- ./notes.txt", setUp: func(w *failing) {
			must.Succeed(w, os.Chmod("notes.txt", 0o600))
		}},
		{name: "serve_keeps_what_is_never_removed", args: here + "-keep-locked=. packages"},
		{name: "serve_with_acme_for_no_name", args: "serve -acme=mirror packages"},
	}
}
