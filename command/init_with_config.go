package command

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/tfdeps/tfdeps/configs/backend"
	"github.com/tfdeps/tfdeps/getproviders/hosts"
)

// writeHandOverConfig writes a CLI configuration for the program that takes
// over: the user's, but for the sources of providers, which is where we
// installed them, and for the tokens, which are handed over otherwise. The caller removes it.
func (r *initRun) writeHandOverConfig() (path string, err error) {
	content, err := r.handOverConfig()
	if err != nil {
		return "", err
	}
	file, err := os.CreateTemp("", "tfdeps-*.tfrc") // with mode 0600
	if err != nil {
		return "", err
	}
	_, err = file.Write(content)
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return "", err
	}
	return file.Name(), nil
}

// handOverConfig is in JSON, in the form that the real tool reads: every block
// is a list.
func (r *initRun) handOverConfig() ([]byte, error) {
	providers, err := filepath.Abs(filepath.Join(r.dataDir(), "providers"))
	if err != nil {
		return nil, err
	}
	type object = map[string]any
	config := object{}
	installation := object{"filesystem_mirror": []any{object{"path": providers}}}
	if len(r.cli.DevOverrides) > 0 {
		overrides := object{}
		for p, dir := range r.cli.DevOverrides {
			overrides[p.String()] = dir
		}
		installation["dev_overrides"] = []any{overrides}
	}
	config["provider_installation"] = []any{installation}
	if len(r.cli.Hosts) > 0 {
		services := object{}
		for host, offered := range r.cli.Hosts {
			services[host.String()] = []any{object{"services": []any{offered}}}
		}
		config["host"] = []any{services}
	}
	return json.Marshal(config)
}

// defaultCloudHost is where cloud and remote backends are if nothing else is said.
const defaultCloudHost = "app.terraform.io"

// backendToken returns the variable with the token for the backend's host, as
// an entry of an environment; none if there is no such token.
func (r *initRun) backendToken() []string {
	block := r.module.Backend
	if block == nil || block.Type != backend.Cloud && block.Type != "remote" {
		return nil
	}
	config, problems := r.decodeBackend()
	if problems.HasErrors() {
		return nil
	}
	host, err := hosts.ParseHostname(cmp.Or(config.Text("hostname"), r.Env.Get("TF_CLOUD_HOSTNAME"), defaultCloudHost))
	if err != nil {
		return nil
	}
	token, err := r.network.Credentials.Token(r.Context, host)
	if err != nil || token == "" {
		return nil
	}
	return []string{"TF_TOKEN_" + strings.NewReplacer("-", "__", ".", "_").Replace(host.ASCII()) + "=" + token}
}
