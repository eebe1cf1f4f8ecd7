package workdir

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/tfdeps/tfdeps/command/cli"
	"github.com/tfdeps/tfdeps/getproviders"
	"github.com/tfdeps/tfdeps/internal/config/backend"
	"github.com/tfdeps/tfdeps/internal/must"
)

const stateOfWidget = `{"version": 4, "resources": [{"mode": "managed", "provider": "provider[\"example.com/acme/widget\"]"}]}`

func TestReadState_ChoosesTheState(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range map[string]string{
		"pulled": stateOfWidget,
		"empty":  "",
		"terraform.tfstate.d/w/terraform.tfstate": stateOfWidget,
		"elsewhere/w/terraform.tfstate":           stateOfWidget,
	} {
		must.Write(t, name, content)
	}
	local := readRecord(t, `"local","config":{"path":"pulled","workspace_dir":"elsewhere"}`)
	remote := readRecord(t, `"s3","config":{}`)
	for _, c := range []struct {
		name    string
		env     cli.Environment
		option  string
		record  *backend.Record
		found   int
		unknown bool
	}{
		{name: "none"},
		{name: "the option", option: "pulled", found: 1},
		{name: "the option in spite of a backend", option: "pulled", record: remote, found: 1},
		{name: "a workspace", env: cli.Environment{"TF_WORKSPACE=w"}, found: 1},
		{name: "a workspace that isn't there", env: cli.Environment{"TF_WORKSPACE=x"}},
		{name: "a local backend", record: local, found: 1},
		{name: "a workspace of a local backend", env: cli.Environment{"TF_WORKSPACE=w"}, record: local, found: 1},
		{name: "another workspace of a local backend", env: cli.Environment{"TF_WORKSPACE=x"}, record: local},
		{name: "a backend", record: remote, unknown: true},
	} {
		m := &cli.Meta{Context: t.Context(), Env: c.env}
		req, known, err := ReadState(m, getproviders.Terraform("1.15.9"), c.option, c.record)
		if err != nil || known == c.unknown || len(req) != c.found {
			t.Errorf("%s: got %v, known %t, error %v; want %d providers, known %t", c.name, req, known, err, c.found, !c.unknown)
		}
	}
	for _, option := range []string{"nosuch", "elsewhere"} { // which is a directory
		m := &cli.Meta{Context: t.Context()}
		if _, _, err := ReadState(m, getproviders.Terraform("1.15.9"), option, nil); err == nil {
			t.Error("no error for", option)
		}
	}
}

func readRecord(t *testing.T, fields string) *backend.Record {
	t.Helper()
	path := filepath.Join(t.TempDir(), "record")
	must.Write(t, path, `{"version":3,"backend":{"type":`+fields+`,"hash":1}}`)
	record := must.Get(backend.Read(nil, path, getproviders.Product{}))(t)
	return record
}

func TestReadState_InterruptDoesNotWaitForStdin(t *testing.T) {
	stdin, typed := io.Pipe()
	defer typed.Close()
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	m := &cli.Meta{Context: ctx, Stdin: stdin}
	if _, _, err := ReadState(m, getproviders.Terraform("1.15.9"), "-", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
}
